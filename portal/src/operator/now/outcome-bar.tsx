import { percentText } from '../../analytics/number-text.ts';
import type { NowReport } from '../../api/operator-types.ts';
import { words } from '../../words/operator/now.ts';
import styles from './now.module.css';

/** The share of delivered texts, with a bar of all outcomes. The columns beside it have the numbers. */
export function OutcomeBar({ figures, reports }: { figures: NowReport['carriers'][number]['hour']; reports: boolean }) {
  const { texts, delivered, unreported, undelivered, failed, delivered_share } = figures;
  if (texts === 0) return '–';
  const width = (part: number) => ({ width: `${(100 * part) / texts}%` });
  return (
    <span className={styles.outcome}>
      <span className={styles.share}>
        {reports && delivered_share !== null ? percentText(delivered_share) : words.carriers.noReports}
      </span>
      <span className={styles.bar} aria-hidden="true">
        <span data-part="delivered" style={width(delivered)} />
        <span data-part="unreported" style={width(unreported)} />
        <span data-part="failed" style={width(undelivered + failed)} />
      </span>
    </span>
  );
}
