import { Link } from 'wouter';
import { countText, secondsText } from '../../analytics/number-text.ts';
import type { NowReport } from '../../api/operator-types.ts';
import { Status } from '../../parts/status.tsx';
import { Table } from '../../parts/table/table.tsx';
import { words } from '../../words/operator/now.ts';
import { CarrierState } from '../carriers/carrier-state.tsx';
import { ageText } from '../queue/age-text.ts';
import { CarrierActions } from './carrier-actions.tsx';
import styles from './now.module.css';
import { OutcomeBar } from './outcome-bar.tsx';

type CarrierNow = NowReport['carriers'][number];
type Figures = CarrierNow['hour'];

const { carriers: said, queue: queueWords } = words;
const { country, delivered, ...numbers } = said.columns;
const columns = [country, delivered, ...Object.values(numbers).map((title) => ({ title, number: true as const }))];

/** A carrier: its state, what waits for it, and its last hour by country. */
export function CarrierHour({
  carrier,
  report,
  onChange,
}: {
  carrier: CarrierNow;
  report: NowReport;
  onChange: () => void;
}) {
  const { name, kind, hour, countries, errors } = carrier;
  const troubles = report.alerts.filter((alert) => alert.carrier === name);
  const rows = countries.length > 1 ? [{ ...hour, country: said.all }, ...countries] : countries;
  return (
    <article className={styles.carrier} aria-label={name}>
      <div className={styles.carrierHead}>
        <h3 className={styles.name}>
          {kind === 'carrier' ? <Link href={`/operator/carriers/${name}`}>{name}</Link> : name}
        </h3>
        {kind === 'carrier' ? (
          <CarrierState carrier={{ paused: carrier.paused, state: carrier.state ?? '' }} troubles={troubles} />
        ) : (
          <Status state={said[kind]} />
        )}
        <CarrierActions carrier={carrier} report={report} onChange={onChange} />
      </div>
      {errors.map((error) => (
        <p key={error} className={styles.error}>
          {error}
        </p>
      ))}
      <Trouble carrier={carrier} />
      <Waiting carrier={carrier} />
      {rows.length === 0 ? (
        <p className={styles.quiet}>{said.none}</p>
      ) : (
        <Table
          label={said.table(name)}
          columns={columns}
          rows={rows.map((row) => ({
            key: row.country ?? '',
            cells: cellsOf(row, row.country ?? said.noCountry, carrier.reports),
          }))}
        />
      )}
    </article>
  );
}

/** Submits that the carrier did not take: they are not counted as texts, because most are sent again. */
function Trouble({ carrier: { unanswered, put_off } }: { carrier: CarrierNow }) {
  if (unanswered + put_off === 0) return null;
  return (
    <p className={styles.trouble}>
      {[unanswered > 0 ? said.unanswered(unanswered) : '', put_off > 0 ? said.putOff(put_off) : ''].join(' ').trim()}
    </p>
  );
}

function Waiting({ carrier: { queue } }: { carrier: CarrierNow }) {
  const { codes, bulk } = queue;
  if (codes.waiting + bulk.waiting === 0) return null;
  const age = ageText(Math.max(codes.oldest_seconds ?? 0, bulk.oldest_seconds ?? 0));
  return <p className={styles.quiet}>{queueWords.ofCarrier(codes.waiting, bulk.waiting, age)}</p>;
}

function cellsOf(figures: Figures, name: string, reports: boolean) {
  const { texts, failed, undelivered, unreported, seconds_median, seconds_p95 } = figures;
  return [
    name,
    <OutcomeBar key="outcomes" figures={figures} reports={reports} />,
    countText(texts),
    secondsText(seconds_median),
    secondsText(seconds_p95),
    countText(failed),
    countText(undelivered),
    countText(unreported),
  ];
}
