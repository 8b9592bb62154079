import { operatorPath, withQuery } from '../../api/call.ts';
import type { DeliveryGroup } from '../../api/operator-types.ts';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/deliveries.ts';
import styles from '../operator.module.css';

const refreshMs = 5000;
const count = new Intl.NumberFormat();

/** Equal reasons with their count, so that one cause is read once. */
export function DeliveryGroups({ state, carrier }: { state: string; carrier: string }) {
  const path = withQuery(operatorPath('deliveries/groups'), { state, carrier });
  const { data } = useLoad<{ data: DeliveryGroup[]; truncated: boolean }>(path, refreshMs);
  if (data === undefined || data.data.length === 0) return null;
  return (
    <Panel title={words.groups.title} lead={data.truncated ? words.groups.truncated : undefined}>
      <Table
        label={words.groups.title}
        columns={[words.why, words.groups.texts, words.since]}
        rows={data.data.map(({ carrier: name, reason, advice, texts, since }) => ({
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
