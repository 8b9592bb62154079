import { Skeleton } from '@mantine/core';
import { Link } from 'wouter';
import { applicationPath } from '../api/call.ts';
import type { Failure } from '../api/record-types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { HttpStatus, Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/overview.ts';
import styles from './overview.module.css';

const refreshMs = 10_000;
const shown = 3;

/** The latest failures, each with a link to its page. */
export function LatestFailures({ applicationId }: { applicationId: string }) {
  const path = applicationPath(applicationId, '/failures');
  const { data, problem, reload } = useLoad<{ data: Failure[] }>(path, refreshMs);
  return (
    <Panel
      title={words.failures.title}
      actions={<Link href={`/applications/${applicationId}/requests?status=error`}>{words.failures.more}</Link>}
    >
      <ProblemCallout problem={problem} onRetry={reload} />
      {/* The height is the same with and without failures, so that what follows does not move under the pointer. */}
      <div className={styles.latest}>
        {data === undefined && problem === undefined && <Skeleton height={110} />}
        {data?.data.length === 0 && <p className={styles.lead}>{words.failures.none}</p>}
        <ul className={styles.failures}>
          {differentOnes(data?.data ?? []).map((failure) => (
            <li key={failure.id}>
              <Link href={`/applications/${applicationId}/${failure.type}s/${failure.id}`}>
                {failure.type === 'request' ? (
                  <HttpStatus status={Number(failure.status)} />
                ) : (
                  <Status state={failure.status} />
                )}
                <span className={styles.subject}>{failure.subject}</span>
                <span className={styles.reason}>{failure.reason ?? ''}</span>
                <span className={styles.reason}>
                  <Time at={failure.at} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </Panel>
  );
}

/** The newest of each kind: many calls above a limit must not hide other failures. */
function differentOnes(failures: Failure[]): Failure[] {
  const newest = new Map<string, Failure>();
  for (const failure of failures) {
    const kind = `${failure.type} ${failure.status} ${failure.subject}`;
    if (!newest.has(kind)) newest.set(kind, failure);
  }
  return [...newest.values()].slice(0, shown);
}
