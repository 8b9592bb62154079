import { Skeleton } from '@mantine/core';
import { Link } from 'wouter';
import { apiTitle } from '../api/apis.ts';
import type { RequestTrace } from '../api/record-types.ts';
import { useLoad } from '../api/use-load.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { Callout } from '../parts/callout.tsx';
import { Facts } from '../parts/facts.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { HttpStatus, Status } from '../parts/status.tsx';
import { Timeline } from '../parts/timeline.tsx';
import styles from './requests.module.css';

const refreshMs = 2000;

/** One request: its outcome, its records and their delivery. */
export function Trace({ correlationId }: { correlationId: string }) {
  const path = `/portal/v1/requests/${encodeURIComponent(correlationId)}`;
  const { data, problem, reload } = useLoad<RequestTrace>(path, refreshMs);
  if (data === undefined) {
    if (problem === undefined) return <Skeleton height={220} mt="lg" />;
    return (
      <div className={styles.trace}>
        {problem.status === 404 ? (
          <Callout tone="wait" title="No request found with this id.">
            The portal does not show requests of other accounts, requests without a valid credential, or requests older
            than a day that created no record. A new request may take a second to appear.
          </Callout>
        ) : (
          <ProblemCallout problem={problem} onRetry={reload} />
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
        <Callout tone={data.status === 429 ? 'wait' : 'bad'} title={data.message}>
          {data.details.length > 0 && (
            <ul>
              {data.details.map(({ field, message }) => (
                <li key={`${field} ${message}`}>
                  <code>{field}</code> {message}
                </li>
              ))}
            </ul>
          )}
        </Callout>
      )}
      <Facts facts={factsOf(data)} />
      <Records trace={data} />
      <Timeline entries={data.timeline} />
      <RequestEvents trace={data} />
    </div>
  );
}

function factsOf(trace: RequestTrace): [string, React.ReactNode][] {
  const { limits } = trace;
  const left = limits.limit === null ? '–' : `${limits.remaining ?? 0} of ${limits.limit}`;
  return [
    ['Application', trace.application_name],
    ['API', apiTitle(trace.api)],
    ['Duration', trace.duration_ms === null ? '–' : `${trace.duration_ms} ms`],
    ['Limits', limits.admitted ? 'Admitted' : `Refused by the ${limits.refused_by ?? ''} limit`],
    ['Left this minute', left],
    ...(limits.retry_after_seconds === null
      ? []
      : [['Retry after', `${limits.retry_after_seconds} s`] satisfies [string, string]]),
  ];
}

/** The events of the record. Those of a batch are on the page of each message. */
function RequestEvents({ trace: { records, application_id } }: { trace: RequestTrace }) {
  const [record, another] = records;
  if (record === undefined || another !== undefined) return null;
  return <RecordEvents applicationId={application_id} subject={record.id} />;
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
