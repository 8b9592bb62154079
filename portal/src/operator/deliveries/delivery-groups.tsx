import type { DeliveryGroup } from '../../api/operator-types.ts';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { words } from '../../words/operator/deliveries.ts';
import styles from '../operator.module.css';

const count = new Intl.NumberFormat();

export interface Groups {
  data: DeliveryGroup[];
  truncated: boolean;
}

/** Equal reasons with their count, so that one cause is read once. */
export function DeliveryGroups({ data, truncated }: Groups) {
  if (data.length === 0) return null;
  return (
    <Panel title={words.groups.title} lead={truncated ? words.groups.truncated : undefined}>
      <Table
        label={words.groups.title}
        columns={[words.why, words.groups.texts, words.since]}
        rows={data.map(({ carrier: name, reason, advice, texts, since }) => ({
          key: `${name} ${reason}`,
          cells: [
            <div key="why" className={styles.why}>
              {reason} <strong>{advice}</strong>
            </div>,
            count.format(texts),
            <Time key="since" at={since} />,
          ],
        }))}
      />
    </Panel>
  );
}
