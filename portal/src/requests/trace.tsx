import { Skeleton } from '@mantine/core';
import { Link } from 'wouter';
import { apiTitle } from '../api/apis.ts';
import type { RequestTrace } from '../api/record-types.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { Facts } from '../parts/facts.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { HttpStatus, Status } from '../parts/status.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/requests.tsx';
import styles from './requests.module.css';

const words = allWords.trace;

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
          <Callout tone="wait" title={words.notFound.title}>
            {words.notFound.next}
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
      {data.outcome !== null && <Callout tone={toneOf(data)} title={data.outcome} />}
      <Facts facts={factsOf(data)} />
      <Records trace={data} />
      <Timeline entries={data.timeline} />
      <RequestEvents trace={data} />
    </div>
  );
}

function factsOf(trace: RequestTrace): [string, React.ReactNode][] {
  const { limits } = trace;
  const left = limits.limit === null ? '–' : words.leftOf(limits.remaining ?? 0, limits.limit);
  return [
    [words.application, trace.application_name],
    [words.api, apiTitle(trace.api)],
    [words.duration, trace.duration_ms === null ? '–' : words.milliseconds(trace.duration_ms)],
    [words.limits, limits.admitted ? words.allowed : words.limited(limits.refused_by ?? '')],
    [words.left, left],
    ...(limits.retry_after_seconds === null
      ? []
      : [[words.retryAfter, words.seconds(limits.retry_after_seconds)] satisfies [string, string]]),
  ];
}

/** The events of the record. Those of a batch are on the page of each message. */
function RequestEvents({ trace: { records, application_id } }: { trace: RequestTrace }) {
  const [record, another] = records;
  if (record === undefined || another !== undefined) return null;
  return <RecordEvents applicationId={application_id} subject={record.id} />;
}

/** A wrong code also gets a 200. */
function toneOf({ outcome }: RequestTrace): 'good' | 'calm' {
  return outcome?.endsWith('approved') ? 'good' : 'calm';
}

function Records({ trace }: { trace: RequestTrace }) {
  return trace.records.map(({ type, id, status }) => (
    <div key={id}>
      <span className={styles.quiet}>{words.now}</span> <Status state={status} />{' '}
      <Link href={`/applications/${trace.application_id}/${type}s/${id}`}>
        <code>{id}</code>
      </Link>
    </div>
  ));
}
