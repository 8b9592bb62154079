import type { ReactNode } from 'react';
import type { TwilioAccount } from '../../api/types.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { words as allWords } from '../../words/integrations.tsx';
import styles from '../integrations.module.css';

const words = allWords.twilio;

/** The values that a program needs, each with a button that copies it. */
export function Credentials({ account, token }: { account: TwilioAccount; token?: string }) {
  const rows: [name: string, value: string, note?: ReactNode][] = [
    [words.baseUrl, account.base_url],
    [words.accountSid, account.account_sid],
    ...(token === undefined ? [] : [[words.token, token] as [string, string]]),
    [words.serviceSid, account.service_sid],
    [words.messagingSid, account.messaging_service_sid, words.messagingSidRule],
  ];
  return (
    <dl className={styles.settings}>
      {rows.map(([name, value, note]) => (
        <div key={name}>
          <dt>
            {name}
            {note !== undefined && <span className={styles.quiet}>{note}</span>}
          </dt>
          <dd>
            <CodeBlock what={words.copy(name)} text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
