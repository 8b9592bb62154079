import type { Carrier, CarrierBind } from '../../api/operator-types.ts';
import { Facts } from '../../parts/facts.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Status } from '../../parts/status.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './carriers.module.css';
import { todayFacts, useToday } from './use-today.ts';

const columns = ['Connection', 'State', 'Address', 'Since', 'Node', 'Problem'];

/** The live state of each connection. */
export function CarrierBinds({ carrier }: { carrier: Carrier }) {
  const today = useToday();
  return (
    <Panel title="Now" lead="Each connection as its worker sees it, and what the carrier did today (UTC).">
      <div className={styles.today}>
        <Facts facts={todayFacts(today.get(carrier.name))} />
      </div>
      {carrier.binds.length === 0 ? (
        <p>No worker runs this carrier. Start a node that sends texts.</p>
      ) : (
        <Table
          label="Connections"
          columns={columns}
          rows={carrier.binds.map((bind) => ({
            key: `${bind.node} ${bind.slot}`,
            cells: [
              `${bind.slot} · ${bind.mode}`,
              <Status key="state" state={bind.state} />,
              bind.host ?? '–',
              <Time key="since" at={bind.since} />,
              bind.node,
              <BindProblem key="problem" bind={bind} />,
            ],
          }))}
        />
      )}
    </Panel>
  );
}

function BindProblem({ bind: { error, next_try_at } }: { bind: CarrierBind }) {
  return (
    <>
      {error ?? '–'}
      {next_try_at !== null && (
        <div>
          Next try: <Time at={next_try_at} />
        </div>
      )}
    </>
  );
}
