import { Skeleton, Stack } from '@mantine/core';
import { operatorPath } from '../../api/call.ts';
import type { NowReport } from '../../api/operator-types.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Time } from '../../parts/time.tsx';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/now.ts';
import { CarrierHour } from './carrier-hour.tsx';
import styles from './now.module.css';
import { QueueNow } from './queue-now.tsx';
import { Wrong } from './wrong.tsx';

const refreshMs = 5000;

/** Where operators land: what is wrong, and what they can do about it. */
export default function Now() {
  const { data, problem, reload } = useLoad<NowReport>(operatorPath('now'), refreshMs);
  return (
    <>
      <PageTitle
        lead={
          <>
            {words.lead} {data === undefined ? '…' : <Time at={data.at} />}
          </>
        }
      >
        {words.title}
      </PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={720} />}
        {data !== undefined && (
          <>
            <Wrong report={data} onChange={reload} />
            <QueueNow queue={data.queue} />
            {data.carriers.length > 0 && (
              <section className={styles.carriers} aria-labelledby="carriers-now">
                <div>
                  <h2 id="carriers-now" className={styles.heading}>
                    {words.carriers.title}
                  </h2>
                  <p className={styles.quiet}>{words.carriers.lead}</p>
                </div>
                {data.carriers.map((carrier) => (
                  <CarrierHour key={carrier.name} carrier={carrier} report={data} onChange={reload} />
                ))}
              </section>
            )}
          </>
        )}
      </Stack>
    </>
  );
}
