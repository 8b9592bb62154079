import type { Carrier } from '../../api/operator-types.ts';
import { Status, Tag } from '../../parts/status.tsx';
import { words } from '../../words/operator/carriers.ts';
import styles from './carriers.module.css';
import type { Trouble } from './use-troubles.ts';

interface CarrierStateProps {
  carrier: Pick<Carrier, 'paused' | 'state'>;
  troubles: readonly Trouble[];
}

/** One word for a carrier's state. A connected carrier that takes or delivers nothing does not look well. */
export function CarrierState({ carrier: { paused, state }, troubles }: CarrierStateProps) {
  const trouble = troubles.find(({ kind }) => kind in words.troubles);
  if (paused || state !== 'up' || trouble === undefined)
    return <Status state={paused ? 'paused' : state.replaceAll('_', ' ')} />;
  return <Tag tone="bad">{words.troubles[trouble.kind as keyof typeof words.troubles](trouble.country)}</Tag>;
}

/** The texts of the carrier's alerts. */
export function Troubles({ troubles }: { troubles: readonly Trouble[] }) {
  return troubles.map(({ kind, country, summary }) => (
    <p key={`${kind} ${country}`} className={styles.error}>
      {summary}
    </p>
  ));
}
