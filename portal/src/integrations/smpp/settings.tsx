import type { SmppAccount } from '../../api/types.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { words } from '../../words/smpp.tsx';
import styles from '../integrations.module.css';

const names = words.settings;

/** What to hand to the other side, each value with a button that copies it. */
export function Settings({ account, password }: { account: SmppAccount; password?: string }) {
  const { host, port, tls_port, version } = account.settings;
  const rows: [name: string, value: string | number | null | undefined][] = [
    [names.host, host],
    [names.tlsPort, tls_port],
    [names.port, port],
    [names.systemId, account.system_id],
    [names.password, password],
    [names.version, version],
  ];
  return (
    <dl className={styles.settings}>
      {rows.map(
        ([name, value]) =>
          value != null && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <CodeBlock what={words.copy(name)} text={String(value)} />
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}
