import { Button, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { call, operatorPath, withQuery } from '../../api/call.ts';
import type { ListedSender } from '../../api/operator-types.ts';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { ReasonButton } from '../../parts/reason-button.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useList } from '../../session/use-load.ts';
import { words } from '../../words/operator/senders.ts';
import styles from '../operator.module.css';
import { ApproveSender } from './approve-sender.tsx';

const refreshMs = 5000;
const states = ['pending', 'approved', 'rejected'];

export default function Senders() {
  const [status, setStatus] = useState('pending');
  const path = withQuery(operatorPath('senders'), { status });
  const { data, problem, reload, showMore } = useList<ListedSender>(path, refreshMs);
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack>
        <div>
          <SegmentedControl aria-label={words.status} value={status} onChange={setStatus} data={states} />
        </div>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && <EmptyState title={words.noneOf(status)}>{words.noneDetail}</EmptyState>}
        {data?.map((sender) => (
          <Sender key={sender.id} sender={sender} onDecided={reload} />
        ))}
        {showMore && (
          <Button variant="default" onClick={showMore}>
            {words.more}
          </Button>
        )}
      </Stack>
    </>
  );
}

function Sender({ sender, onDecided }: { sender: ListedSender; onDecided: () => void }) {
  const showToast = useToast();
  const { id, sender: name, status } = sender;

  async function reject(reason: string): Promise<void> {
    await call('POST', operatorPath(`senders/${id}/reject`), { body: { reason } });
    showToast(`${name} rejected.`);
    onDecided();
  }

  return (
    <article className={styles.waiting} aria-label={name}>
      <div className={styles.facts}>
        <h2 className={styles.name}>
          {name} <Status state={status} />
        </h2>
        <Facts facts={factsOf(sender)} />
      </div>
      <div className={styles.decide}>
        {status !== 'rejected' && (
          <ReasonButton
            label={words.reject}
            about={name}
            question={words.rejectQuestion(name)}
            description={words.reasonRule}
            act={reject}
          />
        )}
        <ApproveSender sender={sender} onApproved={onDecided} />
      </div>
    </article>
  );
}

function factsOf(sender: ListedSender): [string, React.ReactNode][] {
  const { application_name, account_email, countries, carriers, registration, per_second, reason, created_at } = sender;
  return [
    [words.application, application_name],
    [words.account, account_email],
    [words.countries, countries.length === 0 ? words.all : countries.join(', ')],
    [words.requested, <Time key="requested" at={created_at} />],
    ...(sender.status === 'approved'
      ? ([
          [words.carriers, carriers.length === 0 ? words.all : carriers.join(', ')],
          [words.registration, registration ?? '–'],
          [words.perSecond, per_second ?? words.noLimit],
        ] satisfies [string, React.ReactNode][])
      : []),
    ...(reason === null ? [] : ([[words.reason, reason]] satisfies [string, string][])),
  ];
}
