import { Skeleton, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { Link, useParams } from 'wouter';
import { call, operatorPath } from '../api/call.ts';
import type { OpenedRecord as Opened } from '../api/find-types.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Facts } from '../parts/facts.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { HttpStatus, Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { traceFact } from '../parts/trace-fact.tsx';
import { Submits } from '../records/submits.tsx';
import { useSession } from '../session/session.tsx';
import { words as allWords } from '../words/find.tsx';
import styles from './opened-record.module.css';

const words = allWords.opened;

/** A record of any account, for operators. Each time it is opened, the audit log gets an entry. */
export default function OpenedRecord() {
  const { id } = useParams<{ id: string }>();
  return <Opening key={id} id={id} />;
}

function Opening({ id }: { id: string }) {
  const { data, problem, retry } = useOpening(id);
  if (problem?.status === 404) {
    return (
      <EmptyState title={words.notFound.title} action={<Link href="/find">{words.again}</Link>}>
        {words.notFound.next}
      </EmptyState>
    );
  }
  return (
    <>
      <PageTitle
        documentTitle={id}
        lead={
          <span className={styles.id}>
            <code>{id}</code> <CopyButton text={id} what={id} />
          </span>
        }
      >
        {words.title[data?.type ?? ''] ?? words.loading}
      </PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={retry} />
        {data === undefined && problem === undefined && <Skeleton height={480} />}
        {data !== undefined && <Content opened={data} />}
      </Stack>
    </>
  );
}

/** Opens once for each visit: a refresh in the background would fill the audit log. */
function useOpening(id: string): { data: Opened | undefined; problem: Problem | undefined; retry: () => void } {
  const { expire } = useSession();
  const [round, setRound] = useState(0);
  const [state, setState] = useState<{ data?: Opened; problem?: Problem }>({});
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round opens the same record again.
  useEffect(() => {
    const control = new AbortController();
    call<Opened>('POST', operatorPath(`records/${encodeURIComponent(id)}/open`), { signal: control.signal }).then(
      (data) => setState({ data }),
      (error) => {
        if (control.signal.aborted) return;
        const problem = toProblem(error);
        if (problem.status === 401) expire();
        else setState({ problem });
      },
    );
    return () => control.abort();
  }, [id, expire, round]);
  return { data: state.data, problem: state.problem, retry: () => setRound((before) => before + 1) };
}

function Content({ opened }: { opened: Opened }) {
  const { message, verification, request } = opened;
  const submits = (message ?? verification)?.submits ?? [];
  const timeline = (message ?? verification ?? request)?.timeline ?? [];
  return (
    <>
      <Callout tone="calm" title={words.audited} />
      <Panel>
        {request !== null && (
          <h2 className={styles.line}>
            <HttpStatus status={request.status} />
            <code>
              {request.method} {request.path}
            </code>
          </h2>
        )}
        {request !== null && <Refusal request={request} />}
        {message !== null && <blockquote className={styles.quote}>{message.message ?? words.removed}</blockquote>}
        <Facts facts={[...ownerFacts(opened), ...recordFacts(opened)]} />
      </Panel>
      <Panel title={words.timeline}>
        <Timeline entries={timeline} />
      </Panel>
      {submits.length > 0 && (
        <Panel title={words.submits}>
          <Submits submits={submits} />
        </Panel>
      )}
    </>
  );
}

/** Why a request was refused. A single detail is the message itself. */
function Refusal({ request: { status, message, details } }: { request: NonNullable<Opened['request']> }) {
  if (message === null) return null;
  const more = details.length > 1 ? details : [];
  return (
    <div className={styles.why}>
      <Callout tone={status === 429 ? 'wait' : 'bad'} title={message}>
        {more.map(({ field, message: why }) => (
          <div key={`${field} ${why}`}>
            <code>{field}</code> {why}
          </div>
        ))}
      </Callout>
    </div>
  );
}

type FactList = [string, ReactNode][];

function ownerFacts({ application_id: id, application_name: name, account_id: account }: Opened): FactList {
  return [
    [
      words.application,
      <Link key="application" href={`/operator/limits/${id}`}>
        {name ?? allWords.deleted}
      </Link>,
    ],
    [
      words.account,
      account === null ? (
        '–'
      ) : (
        <Link key="account" href={`/operator/accounts/${account}`}>
          <code>{account}</code>
        </Link>
      ),
    ],
  ];
}

function recordFacts({ message, verification, request }: Opened): FactList {
  if (message !== null) {
    return [
      [words.status, <Status key="status" state={message.status} />],
      [words.to, message.to],
      [words.from, message.from],
      [words.error, message.error?.message ?? '–'],
      [words.created, <Time key="created" at={message.created_at} />],
      [words.reference, message.reference ?? '–'],
      [words.request, <RecordLink key="request" id={message.correlation_id} />],
    ];
  }
  if (verification !== null) {
    return [
      [words.status, <Status key="status" state={verification.status} />],
      [words.to, verification.to],
      [words.reason, verification.reason ?? '–'],
      [words.created, <Time key="created" at={verification.created_at} />],
      [words.reference, verification.reference ?? '–'],
      [words.request, <RecordLink key="request" id={verification.correlation_id} />],
    ];
  }
  if (request === null) return [];
  const { limits, records } = request;
  return [
    [words.created, <Time key="created" at={request.at} />],
    [words.duration, request.duration_ms === null ? '–' : words.milliseconds(request.duration_ms)],
    [words.limits, limits.admitted ? words.allowed : words.limited(limits.refused_by ?? '')],
    ...traceFact(request.trace_id),
    ...records.slice(0, 20).map(({ id, status }): [string, ReactNode] => [
      words.records,
      <span key={id} className={styles.line}>
        <Status state={status} /> <RecordLink id={id} />
      </span>,
    ]),
  ];
}

function RecordLink({ id }: { id: string }) {
  return (
    <Link href={`/operator/records/${id}`}>
      <code>{id}</code>
    </Link>
  );
}
