import { Link } from 'wouter';
import { apiTitle } from '../api/apis.ts';
import type { RequestTrace } from '../api/record-types.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Drawer } from '../parts/drawer/drawer.tsx';
import { Facts } from '../parts/facts.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { HttpStatus, Status, Tag } from '../parts/status.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { traceFact } from '../parts/trace-fact.tsx';
import { useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/requests.tsx';
import styles from './requests.module.css';

const words = allWords.trace;

const refreshMs = 2000;

/** One request: its outcome, its records and their delivery. */
export function RequestDrawer({ correlationId, back }: { correlationId: string; back: string }) {
  const path = `/portal/v1/requests/${encodeURIComponent(correlationId)}`;
  const { data, problem, reload } = useLoad<RequestTrace>(path, refreshMs);
  return (
    <Drawer
      kind={words.kind}
      id={correlationId}
      back={back}
      problem={problem}
      onRetry={reload}
      notFound={words.notFound}
    >
      {data !== undefined && <Story trace={data} />}
    </Drawer>
  );
}

function Story({ trace }: { trace: RequestTrace }) {
  const { status, method, path, message, details, outcome } = trace;
  return (
    <>
      <h3 className={styles.line}>
        <HttpStatus status={status} />
        <code>
          {method} {path}
        </code>
        {trace.sent_from === 'portal' && <Tag tone="calm">{allWords.list.fromPortal}</Tag>}
      </h3>
      {message !== null && (
        <Callout tone={status === 429 ? 'wait' : 'bad'} title={message}>
          {details.length > 0 && (
            <ul>
              {details.map((each) => (
                <li key={`${each.field} ${each.message}`}>
                  <code>{each.field}</code> {each.message}
                </li>
              ))}
            </ul>
          )}
        </Callout>
      )}
      {outcome !== null && <Callout tone={toneOf(trace)} title={outcome} />}
      <Facts facts={factsOf(trace)} />
      <Records trace={trace} />
      <Timeline entries={trace.timeline} />
      <RequestEvents trace={trace} />
    </>
  );
}

type Fact = [string, React.ReactNode];

function factsOf(trace: RequestTrace): Fact[] {
  const { limits } = trace;
  const left = limits.limit === null ? '–' : words.leftOf(limits.remaining ?? 0, limits.limit);
  return [
    [words.application, trace.application_name],
    [words.api, apiTitle(trace.api)],
    [words.duration, trace.duration_ms === null ? '–' : words.milliseconds(trace.duration_ms)],
    [words.limits, limits.admitted ? words.allowed : words.limited(limits.refused_by ?? '')],
    [words.left, left],
    ...traceFact(trace.trace_id),
    ...(limits.retry_after_seconds === null
      ? []
      : [[words.retryAfter, words.seconds(limits.retry_after_seconds)] satisfies Fact]),
  ];
}

/** The events of the record. Those of a batch are on the page of each message. */
function RequestEvents({ trace: { records, application_id } }: { trace: RequestTrace }) {
  const [record, another] = records;
  if (record === undefined || another !== undefined) return null;
  return <RecordEvents applicationId={application_id} subject={record.id} />;
}

/** By the outcome: a wrong code also gets the status 200. */
function toneOf({ outcome }: RequestTrace): 'good' | 'calm' {
  return outcome?.endsWith('approved') ? 'good' : 'calm';
}

/** The records of a batch, with their total by status. */
function Records({ trace: { records, application_id } }: { trace: RequestTrace }) {
  const counts = new Map<string, number>();
  for (const { status } of records) counts.set(status, (counts.get(status) ?? 0) + 1);
  return (
    <>
      {records.length > 1 && (
        <div className={styles.line}>
          <strong>{words.batch(records.length)}</strong>
          {[...counts].map(([status, count]) => (
            <span key={status}>
              {count} <Status state={status} />
            </span>
          ))}
        </div>
      )}
      <ul className={styles.records}>
        {records.map(({ type, id, status }) => (
          <li key={id} className={styles.line}>
            <span className={styles.quiet}>{words.now}</span> <Status state={status} />
            <Link href={`/applications/${application_id}/${type}s/${id}`}>
              <code>{id}</code>
            </Link>
            <CopyButton text={id} what={words.recordId} small />
          </li>
        ))}
      </ul>
    </>
  );
}
