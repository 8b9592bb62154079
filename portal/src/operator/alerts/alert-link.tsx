import { Link } from 'wouter';
import type { Alert } from '../../api/operator-types.ts';
import { words } from '../../words/operator/alerts.tsx';

/** The page where an operator can resolve the alert. */
export function AlertLink({
  alert: { kind, carrier, application_id },
}: {
  alert: Pick<Alert, 'kind' | 'carrier' | 'application_id'>;
}) {
  if (kind === 'suspected_pumping') return <Link href="/operator/guard">{words.openHolds}</Link>;
  if (carrier !== null) return <Link href={`/operator/carriers/${carrier}`}>{words.open(carrier)}</Link>;
  if (application_id !== null) return <Link href={`/operator/limits/${application_id}`}>{words.openLimits}</Link>;
  return null;
}
