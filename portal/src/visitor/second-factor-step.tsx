import { useLocation } from 'wouter';
import { CodeForm } from '../account/code-form.tsx';
import { call } from '../api/call.ts';
import type { Account } from '../api/types.ts';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/visitor.tsx';
import styles from './narrow.module.css';

interface SecondFactorStepProps {
  challenge: string;
  /** The page to show afterwards; undefined for the one in the address. */
  next?: string;
  /** Says what the first step was; by default a correct password. */
  lead?: string;
  onCancel: () => void;
}

/** The second step of a sign-in, after the correct password. */
export function SecondFactorStep({ challenge, next, lead = words.secondFactor.lead, onCancel }: SecondFactorStepProps) {
  const { enter } = useSession();
  const [, navigate] = useLocation();

  async function complete(code: string): Promise<void> {
    enter(await call<Account>('POST', '/portal/v1/sessions/second-factor', { body: { challenge, code } }));
    if (next !== undefined) navigate(next, { replace: true });
  }

  return (
    <div className={styles.narrow}>
      <PageTitle lead={lead}>{words.secondFactor.title}</PageTitle>
      <Panel>
        <CodeForm label={words.signIn.title} act={complete} onCancel={onCancel} />
      </Panel>
      <p className={styles.aside}>{words.secondFactor.lostPhone}</p>
    </div>
  );
}
