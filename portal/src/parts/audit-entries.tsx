import { Skeleton } from '@mantine/core';
import type { AuditEntry } from '../api/operator-types.ts';
import { useList } from '../api/use-load.ts';
import { words } from '../words/audit.ts';
import { detailsOf } from './audit-details.ts';
import styles from './audit-entries.module.css';
import { EmptyState } from './empty-state.tsx';
import { Panel } from './panel.tsx';
import { ProblemCallout } from './problem-callout.tsx';
import { ShowMore } from './show-more.tsx';
import { Table } from './table.tsx';
import { Time } from './time.tsx';

const { time, act, target, by, details } = words.columns;

/** A list of the audit log, newest first. */
export function AuditEntries({ path }: { path: string }) {
  const { data, problem, reload, showMore } = useList<AuditEntry>(path);
  if (data === undefined) {
    return problem === undefined ? <Skeleton height={260} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  if (data.length === 0) return <EmptyState title={words.nothing.title}>{words.nothing.text}</EmptyState>;
  return (
    <Panel>
      <Table
        label={words.title}
        columns={[time, act, by, target, details]}
        rows={data.map((entry) => ({ key: entry.id, cells: cellsOf(entry) }))}
      />
      <ShowMore onClick={showMore} />
    </Panel>
  );
}

function cellsOf({ time: at, act: what, target: { id }, actor, address, details: given }: AuditEntry) {
  const kind = words.actors[actor.type] ?? actor.type;
  return [
    <span key="time" className={styles.time}>
      <Time at={at} />
    </span>,
    <code key="act">{what}</code>,
    <div key="by">
      {actor.email ?? words.actorNames[actor.type] ?? actor.type}
      <div className={styles.quiet}>{whereOf(actor.type, kind, address)}</div>
    </div>,
    <code key="target">{id}</code>,
    <div key="details" className={styles.details}>
      {detailsOf(given).map(([name, value]) => (
        <div key={name}>
          <span className={styles.quiet}>{name.replaceAll('_', ' ')}:</span> {value}
        </div>
      ))}
    </div>,
  ];
}

/** Owners do not learn where an operator works. */
function whereOf(type: string, kind: string, address: string | null): string {
  if (address !== null) return words.from(kind, address);
  return type === 'machine' ? '' : kind;
}
