import { Button } from '@mantine/core';
import { planTitle } from '../api/apis.ts';
import type { Plan } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import { words as allWords } from '../words/overview.ts';
import styles from './overview.module.css';

const words = allWords.plans;

interface PlanCardProps {
  plan: Plan;
  api: string;
  state: 'current' | 'requested' | 'open';
  registered: boolean;
  busy: boolean;
  onChoose: () => void;
}

const count = new Intl.NumberFormat();

export function PlanCard({ plan, api, state, registered, busy, onChoose }: PlanCardProps) {
  const title = planTitle(plan.name);
  const label = registered ? words.changeTo(title) : words.registerOn(title);
  return (
    <div className={styles.card} data-state={state}>
      <h3>{title}</h3>
      <span className={styles.number}>{count.format(plan.per_minute)}</span>
      <span className={styles.unit}>{words.rate(count.format(plan.burst))}</span>
      {state === 'open' ? (
        <Button variant="default" disabled={busy} onClick={onChoose} aria-label={words.about(label, api)}>
          {label}
        </Button>
      ) : (
        <span className={styles.state}>
          <Icon name={state === 'current' ? 'check' : 'info'} size={16} />
          {state === 'current' ? words.yours : words.waiting}
        </span>
      )}
    </div>
  );
}
