import type { Carrier, CarrierBind } from '../../api/operator-types.ts';
import { Facts } from '../../parts/facts.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Status } from '../../parts/status.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { words } from '../../words/operator/carriers.ts';
import styles from './carriers.module.css';
import { todayFacts, useToday } from './use-today.ts';

const columns = [
  words.binds.connection,
  words.binds.state,
  words.binds.address,
  words.binds.since,
  words.binds.node,
  words.binds.problem,
];

/** The live state of each connection. */
export function CarrierBinds({ carrier }: { carrier: Carrier }) {
  const today = useToday();
  return (
    <Panel title={words.binds.title} lead={words.binds.lead}>
      <div className={styles.today}>
        <Facts facts={todayFacts(today.get(carrier.name))} />
      </div>
      {carrier.binds.length === 0 ? (
        <p>{words.binds.none}</p>
      ) : (
        <Table
          label={words.binds.list}
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
          {words.binds.next} <Time at={next_try_at} />
        </div>
      )}
    </>
  );
}
