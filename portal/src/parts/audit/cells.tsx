import type { AuditEntry } from '../../api/operator-types.ts';
import { words } from '../../words/audit.ts';
import { Time } from '../time.tsx';
import styles from './cells.module.css';
import { detailsOf } from './details.ts';

/** Cells of one audit log entry. */
export function auditCells({ time: at, act: what, target: { id }, actor, address, details: given }: AuditEntry) {
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

/** Owners do not see an operator's address. */
function whereOf(type: string, kind: string, address: string | null): string {
  if (address !== null) return words.from(kind, address);
  return type === 'machine' ? '' : kind;
}
