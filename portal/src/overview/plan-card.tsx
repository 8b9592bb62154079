import { Button } from '@mantine/core';
import { planTitle } from '../api/apis.ts';
import type { Plan } from '../api/types.ts';
import { Icon } from '../parts/icon.tsx';
import styles from './api-panel.module.css';

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
  const label = registered ? `Change to ${title}` : `Register on ${title}`;
  return (
    <div className={styles.card} data-state={state}>
      <h3>{title}</h3>
      <span className={styles.number}>{count.format(plan.per_minute)}</span>
      <span className={styles.unit}>requests a minute, at most {count.format(plan.burst)} a second</span>
      {state === 'open' ? (
        <Button variant="default" disabled={busy} onClick={onChoose} aria-label={`${label} for ${api}`}>
          {label}
        </Button>
      ) : (
        <span className={styles.state}>
          <Icon name={state === 'current' ? 'check' : 'info'} size={16} />
          {state === 'current' ? 'Your plan' : 'Waiting for an operator'}
        </span>
      )}
    </div>
  );
}
