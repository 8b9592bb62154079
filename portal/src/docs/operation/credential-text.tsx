import { words } from '../../words/docs.tsx';
import type { CredentialKind, Operation } from '../model/operations.ts';

/** The credential that the operation needs, as a sentence. */
export function CredentialText({ operation: { credentials, scope, tag } }: { operation: Operation }) {
  if (credentials.length === 0) return <p>{words.credential.none}</p>;
  const [first] = credentials;
  return (
    <p>
      {words.credential.send}{' '}
      {credentials.map((kind) => (
        <span key={kind}>
          {kind !== first && `${words.credential.or} `}
          <OneCredential kind={kind} scope={scope} />
        </span>
      ))}
      .{tag !== 'Identity' && first === 'token' && ` ${words.credential.tokenLasts}`}
    </p>
  );
}

function OneCredential({ kind, scope }: { kind: CredentialKind; scope: string | undefined }) {
  switch (kind) {
    case 'apikey':
      return words.credential.apiKeyHeader;
    case 'token':
      return (
        <>
          {words.credential.token}
          {scope !== undefined && words.credential.scope(scope)}
        </>
      );
    case 'client':
      return words.credential.clientForm;
    case 'sid':
      return words.credential.sid;
    case 'session':
      return words.credential.session;
    case 'metrics':
      return words.credential.metrics;
  }
}
