import { Button } from '@mantine/core';
import { Link } from 'wouter';
import type { NowReport } from '../../api/operator-types.ts';
import { Icon } from '../../parts/icon.tsx';
import { Time } from '../../parts/time.tsx';
import { useSession } from '../../session/session.tsx';
import { words } from '../../words/operator/now.ts';
import { AlertLink } from '../alerts/alert-link.tsx';
import { ageText } from '../queue/age-text.ts';
import { CarrierActions } from './carrier-actions.tsx';
import styles from './now.module.css';

/** One sentence for each thing that is wrong, in the order of the service: causes first. */
export function Wrong({ report, onChange }: { report: NowReport; onChange: () => void }) {
  const { alerts, more_alerts } = report;
  if (alerts.length === 0) return <Calm report={report} />;
  return (
    <section aria-labelledby="wrong-now" className={styles.wrong}>
      <h2 id="wrong-now" className={styles.heading}>
        {words.wrong(alerts.length)}
      </h2>
      <ol className={styles.alerts}>
        {alerts.map((alert) => (
          <li key={alert.id}>
            <WrongThing alert={alert} report={report} onChange={onChange} />
          </li>
        ))}
      </ol>
      {more_alerts && (
        <p className={styles.quiet}>
          {words.more} <Link href="/operator/alerts">{words.openAlerts}</Link>
        </p>
      )}
    </section>
  );
}

interface ThingProps {
  alert: NowReport['alerts'][number];
  report: NowReport;
  onChange: () => void;
}

function WrongThing({ alert, report, onChange }: ThingProps) {
  const carrier = report.carriers.find(({ name, state }) => name === alert.carrier && state !== null);
  const seconds = Math.max(0, Math.floor((Date.parse(report.at) - Date.parse(alert.since)) / 1000));
  return (
    <article className={styles.alert} aria-label={alert.summary}>
      <span className={styles.sign}>
        <Icon name="warning" size={20} />
      </span>
      <div className={styles.said}>
        <strong className={styles.summary}>{alert.summary}</strong>
        <p className={styles.advice}>{alert.advice}</p>
        <p className={styles.quiet}>
          {words.since} <Time at={alert.since} /> {words.lasts(ageText(seconds))}{' '}
          {alert.raised_at === null && words.early} <AlertLink alert={alert} />
        </p>
      </div>
      {carrier !== undefined && <CarrierActions carrier={carrier} report={report} onChange={onChange} />}
    </article>
  );
}

function Calm({ report: { carriers } }: { report: NowReport }) {
  const { service } = useSession();
  const own = carriers.filter(({ kind }) => kind === 'carrier');
  const up = own.filter(({ state, paused }) => state === 'up' && !paused).length;
  const without = service.environment === 'sandbox' ? words.calm.noCarriersInSandbox : words.calm.noCarriers;
  return (
    <section className={styles.calm} aria-label={words.calm.title}>
      <span className={styles.well}>
        <Icon name="check" size={26} />
      </span>
      <div>
        <strong className={styles.calmTitle}>{words.calm.title}</strong>
        <p className={styles.advice}>{own.length === 0 ? without : words.calm.carriers(up, own.length)}</p>
      </div>
      {own.length === 0 && (
        <Button component={Link} href="/operator/carriers" variant="default" size="xs" ml="auto">
          {words.calm.addCarrier}
        </Button>
      )}
    </section>
  );
}
