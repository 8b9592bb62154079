import { Link } from 'wouter';
import type { Carrier, Total } from '../../api/operator-types.ts';
import { Facts } from '../../parts/facts.tsx';
import { words } from '../../words/operator/carriers.ts';
import { addressOf, bindErrors, bindsOf, rateOf } from './carrier-facts.ts';
import { CarrierState, Troubles } from './carrier-state.tsx';
import styles from './carriers.module.css';
import { PauseButton } from './pause-button.tsx';
import { todayFacts } from './use-today.ts';
import type { Trouble } from './use-troubles.ts';

interface CarrierCardProps {
  carrier: Carrier;
  today: Total | undefined;
  troubles: readonly Trouble[];
  onChange: () => void;
}

/** One carrier in the list: its state, and why a connection is not up. */
export function CarrierCard({ carrier, today, troubles, onChange }: CarrierCardProps) {
  const { name, kind } = carrier;
  return (
    <article className={styles.card} aria-label={name}>
      <div className={styles.head}>
        <h2 className={styles.name}>
          <Link href={`/operator/carriers/${name}`}>{name}</Link>
        </h2>
        <CarrierState carrier={carrier} troubles={troubles} />
        <div className={styles.push}>
          <PauseButton carrier={carrier} onChange={onChange} />
        </div>
      </div>
      <Facts
        facts={[
          [words.card.kind, kind],
          [words.card.address, addressOf(carrier)],
          [words.card.connections, bindsOf(carrier)],
          [words.card.rate, rateOf(carrier)],
          ...todayFacts(today),
        ]}
      />
      <Troubles troubles={troubles} />
      {bindErrors(carrier).map((error) => (
        <p key={error} className={styles.error}>
          {error}
        </p>
      ))}
    </article>
  );
}
