import type { ReactNode } from 'react';
import type { ClientSecret } from '../api/types.ts';
import { Facts } from '../parts/facts.tsx';
import { Icon } from '../parts/icon.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { words as allWords } from '../words/credentials.tsx';
import styles from './credentials.module.css';

const words = allWords.secret;

interface SecretRowProps {
  name?: string | null;
  /** Its visible characters. */
  shown: string;
  /** A public key does not expire. */
  secret: Pick<ClientSecret, 'created_at' | 'last_used_at' | 'suspended_at'> & { expires_at?: string | null };
  children: ReactNode;
}

/** A stored secret: its name, its visible characters and its dates. */
export function SecretRow({ name = null, shown, secret, children }: SecretRowProps) {
  return (
    <div className={styles.row}>
      <div className={styles.name}>
        <Icon name="key" />
        <div>
          {name !== null && <strong className={styles.title}>{name}</strong>}
          <code>{shown}</code> {secret.suspended_at !== null && <Status state="suspended" />}
        </div>
      </div>
      <div className={styles.facts}>
        <Facts
          facts={[
            [words.created, <Time key="created" at={secret.created_at} />],
            [words.lastUsed, secret.last_used_at === null ? words.never : <Time key="used" at={secret.last_used_at} />],
            ...(secret.expires_at === undefined ? [] : [expiry(secret.expires_at)]),
          ]}
        />
      </div>
      {children}
    </div>
  );
}

function expiry(at: string | null): [string, ReactNode] {
  return [words.expires, at === null ? words.never : <Time key="expires" at={at} />];
}
