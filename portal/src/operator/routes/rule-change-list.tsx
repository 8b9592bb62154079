import { Tag } from '../../parts/status.tsx';
import { words } from '../../words/operator/routes.ts';
import type { RuleChange } from './route-diff.ts';
import styles from './routes.module.css';

const tones = { added: 'good', removed: 'bad', changed: 'wait', moved: 'calm' } as const;

/** What saving would change, rule by rule. */
export function RuleChangeList({ changes }: { changes: readonly RuleChange[] }) {
  return (
    <ul className={styles.changes}>
      {changes.map((change) => (
        <Change key={`${change.kind} ${change.name}`} change={change} />
      ))}
    </ul>
  );
}

function Change({ change: { name, kind, from, to, fields } }: { change: RuleChange }) {
  return (
    <li className={styles.change}>
      <div className={styles.changeHead}>
        <Tag tone={tones[kind]}>{kind}</Tag>
        <strong>{name}</strong>
        <span className={styles.text}>{placeText(from, to)}</span>
      </div>
      {fields.length > 0 && (
        <dl className={styles.fieldChange}>
          {fields.map(({ field, before, after }) => [
            <dt key={`${field} name`}>{field}</dt>,
            <dd key={field}>
              <del>{before}</del> → <ins>{after}</ins>
            </dd>,
          ])}
        </dl>
      )}
    </li>
  );
}

function placeText(from: number | null, to: number | null): string {
  if (from === null) return words.review.added(to);
  if (to === null) return words.review.removed(from);
  return from === to ? '' : words.review.moved(from, to);
}
