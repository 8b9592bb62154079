import type { SmppAccount } from '../../api/types.ts';
import { Tag } from '../../parts/status.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { words } from '../../words/smpp.tsx';
import styles from '../integrations.module.css';

const { columns, problemColumns } = words;
const number = (title: string) => ({ title, number: true }) as const;

/** The binds of an account now. */
export function BindTable({ bound }: Pick<SmppAccount, 'bound'>) {
  return (
    <Table
      label={words.bound}
      columns={[
        columns.mode,
        columns.address,
        columns.since,
        number(columns.perMinute),
        number(columns.submits),
        number(columns.throttled),
        number(columns.refused),
        number(columns.delivered),
      ]}
      rows={bound.map((bind) => ({
        key: bind.id,
        cells: [
          bind.mode,
          <>
            {bind.address} {bind.tls && <Tag tone="calm">{words.withTls}</Tag>}
          </>,
          <Time key="since" at={bind.bound_at} />,
          bind.per_minute,
          bind.submits,
          bind.throttled,
          bind.refused,
          bind.delivered,
        ],
      }))}
    />
  );
}

/** What was refused lately, with the reason. */
export function ProblemTable({ problems }: Pick<SmppAccount, 'problems'>) {
  return (
    <Table
      label={words.problems}
      columns={[problemColumns.at, problemColumns.command, problemColumns.status, problemColumns.why]}
      rows={problems.map((problem, index) => ({
        key: `${problem.at} ${index}`,
        cells: [
          <Time key="at" at={problem.at} />,
          <code key="command">{problem.command}</code>,
          <code key="status">{problem.status_name}</code>,
          <span key="why" className={styles.why}>
            {problem.why}
          </span>,
        ],
      }))}
      tall
    />
  );
}
