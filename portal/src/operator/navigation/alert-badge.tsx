import { Link } from 'wouter';
import { Icon } from '../../parts/icon.tsx';
import { useOpenAlerts } from '../../session/open-alerts.tsx';
import { words } from '../../words/operator/badge.ts';
import styles from './alert-badge.module.css';

/** The number of open alerts, in the top bar of every page. It keeps its room until the number is known. */
export function AlertBadge() {
  const { data, problem } = useOpenAlerts();
  // The service requires a second factor first.
  if (problem?.status === 403) return null;
  const state = problem !== undefined ? 'unknown' : data === undefined ? 'loading' : data.open > 0 ? 'bad' : 'good';
  const open = data?.open ?? 0;
  return (
    <Link
      href="/operator/now"
      className={styles.badge ?? ''}
      data-state={state}
      aria-label={state === 'unknown' ? words.unknown : words.label(open)}
      title={state === 'unknown' ? words.unknown : words.label(open)}
    >
      <Icon name={state === 'good' ? 'check' : 'warning'} size={16} />
      {state === 'bad' && <span>{words.count(open)} </span>}
      <span className={styles.text}>
        {state === 'good' ? words.none : state === 'unknown' ? words.unread : words.alerts(open)}
      </span>
    </Link>
  );
}
