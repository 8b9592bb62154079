import { Skeleton } from '@mantine/core';
import { Link } from 'wouter';
import { apiTitle } from '../api/apis.ts';
import type { RequestTrace } from '../api/record-types.ts';
import { useLoad } from '../api/use-load.ts';
import { Facts } from '../parts/facts.tsx';
import { Note } from '../parts/note.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { HttpStatus, Status } from '../parts/status.tsx';
import { Story } from '../parts/story.tsx';
import styles from './requests.module.css';

const refreshMs = 2000;

/** The story of one request, from its arrival to what became of its record. */
export function Trace({ correlationId }: { correlationId: string }) {
  const path = `/portal/v1/requests/${encodeURIComponent(correlationId)}`;
  const { data, problem, reload } = useLoad<RequestTrace>(path, refreshMs);
  if (data === undefined) {
    if (problem === undefined) return <Skeleton height={220} mt="lg" />;
    return (
      <div className={styles.trace}>
        {problem.status === 404 ? (
          <Note tone="wait" title="No request with this id is known here.">
            Ids of other accounts, of requests without a valid credential, and of old requests that made no record are
            not kept. A request of this second may need a moment.
          </Note>
        ) : (
          <ProblemNote problem={problem} onRetry={reload} />
        )}
      </div>
    );
  }
  return (
    <div className={styles.trace}>
      <h3 className={styles.line}>
        <HttpStatus status={data.status} />
        <code>
          {data.method} {data.path}
        </code>
      </h3>
      {data.message !== null && (
        <Note tone={data.status === 429 ? 'wait' : 'bad'} title={data.message}>
          {data.details.length > 0 && (
            <ul>
              {data.details.map(({ field, message }) => (
                <li key={`${field} ${message}`}>
                  <code>{field}</code> {message}
                </li>
              ))}
            </ul>
          )}
        </Note>
      )}
      <Facts facts={factsOf(data)} />
      <Records trace={data} />
      <Story entries={data.timeline} />
    </div>
  );
}

function factsOf(trace: RequestTrace): [string, React.ReactNode][] {
  const { limits } = trace;
  const left = limits.limit === null ? '–' : `${limits.remaining ?? 0} of ${limits.limit}`;
  return [
    ['Application', trace.application_name],
    ['API', apiTitle(trace.api)],
    ['Took', trace.duration_ms === null ? '–' : `${trace.duration_ms} ms`],
    ['Limits', limits.admitted ? 'Admitted' : `Refused by the ${limits.refused_by ?? ''} limit`],
    ['Left of the minute', left],
    ...(limits.retry_after_seconds === null
      ? []
      : [['Retry after', `${limits.retry_after_seconds} s`] satisfies [string, string]]),
  ];
}

function Records({ trace }: { trace: RequestTrace }) {
  return trace.records.map(({ type, id, status }) => (
    <div key={id}>
      <Status state={status} />{' '}
      <Link href={`/applications/${trace.application_id}/${type}s/${id}`}>
        <code>{id}</code>
      </Link>
    </div>
  ));
}
