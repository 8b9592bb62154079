import type { ReactNode } from 'react';
import type { ClientSecret } from '../api/types.ts';
import { Facts } from '../parts/facts.tsx';
import { Icon } from '../parts/icon.tsx';
import { Time } from '../parts/time.tsx';
import styles from './credentials.module.css';

/** A stored secret: its visible characters and its dates. */
export function SecretRow({ name, secret, children }: { name: string; secret: ClientSecret; children?: ReactNode }) {
  return (
    <div className={styles.row}>
      <div className={styles.name}>
        <Icon name="key" />
        <code>{name}</code>
      </div>
      <div className={styles.facts}>
        <Facts
          facts={[
            ['Created', <Time key="created" at={secret.created_at} />],
            ['Last used', secret.last_used_at === null ? 'Never' : <Time key="used" at={secret.last_used_at} />],
            ['Expires', secret.expires_at === null ? 'Never' : <Time key="expires" at={secret.expires_at} />],
          ]}
        />
      </div>
      {children}
    </div>
  );
}
