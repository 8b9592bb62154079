import { Link } from 'wouter';
import type { NowReport } from '../../api/operator-types.ts';
import { words } from '../../words/operator/now.ts';
import { ageText } from '../queue/age-text.ts';
import styles from './now.module.css';

type Lane = NowReport['queue']['codes'];

/** A person waits for a code: after these many seconds it is late. */
const lateSeconds = { codes: 10, bulk: 900 };

export function QueueNow({ queue }: { queue: NowReport['queue'] }) {
  const { codes, bulk } = queue;
  return (
    <section className={styles.queue} aria-labelledby="queue-now">
      <div className={styles.queueHead}>
        <h2 id="queue-now" className={styles.heading}>
          {words.queue.title}
        </h2>
        <Link href="/operator/queue">{words.queue.open}</Link>
      </div>
      <dl className={styles.lanes}>
        <LaneFact title={words.queue.codes} lane={codes} late={lateSeconds.codes} />
        <LaneFact title={words.queue.bulk} lane={bulk} late={lateSeconds.bulk} />
      </dl>
    </section>
  );
}

function LaneFact({ title, lane: { waiting, oldest_seconds }, late }: { title: string; lane: Lane; late: number }) {
  const oldest = oldest_seconds ?? 0;
  return (
    <div data-late={(waiting > 0 && oldest > late) || undefined}>
      <dt>{title}</dt>
      <dd>
        <strong>{waiting === 0 ? words.queue.empty : words.queue.waiting(waiting)}</strong>
        {waiting > 0 && <span> {words.queue.oldest(ageText(oldest))}</span>}
      </dd>
    </div>
  );
}
