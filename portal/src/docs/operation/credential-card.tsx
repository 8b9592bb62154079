import { words } from '../../words/docs.tsx';
import { useCredentials } from '../credentials.ts';
import type { CredentialKind } from '../model/operations.ts';
import styles from './card.module.css';
import { CredentialFields, isFilledIn } from './credential-fields.tsx';

/** Shows whether the samples contain a placeholder or the reader's credential, and lets the reader enter it. */
export function CredentialCard({ kind }: { kind: CredentialKind | undefined }) {
  const [credentials] = useCredentials();
  if (kind !== 'apikey' && kind !== 'token' && kind !== 'client') return null;
  const filledIn = isFilledIn(kind, credentials);
  const what = kind === 'apikey' ? words.credential.key : words.credential.client;
  return (
    <details className={`${styles.card} ${styles.fold}`}>
      <summary>{filledIn ? words.credential.hasYours(what) : words.credential.putYours(what)}</summary>
      <div className={styles.inner}>
        <CredentialFields kind={kind} />
        <span className={styles.hint}>{words.credential.kept}</span>
      </div>
    </details>
  );
}
