import { Button, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { call, operatorPath, withQuery } from '../../api/call.ts';
import type { ListedSender } from '../../api/operator-types.ts';
import { useList } from '../../api/use-load.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Facts } from '../../parts/facts.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { ReasonButton } from '../../parts/reason-button.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
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
      <PageTitle lead="In production an application may only send as what you approved. In the sandbox every sender is there.">
        Senders
      </PageTitle>
      <Stack>
        <div>
          <SegmentedControl aria-label="Status" value={status} onChange={setStatus} data={states} />
        </div>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && (
          <EmptyState title={`No ${status} senders`}>
            Developers ask for senders on their application’s page.
          </EmptyState>
        )}
        {data?.map((sender) => (
          <Sender key={sender.id} sender={sender} onDecided={reload} />
        ))}
        {showMore && (
          <Button variant="default" onClick={showMore}>
            Show more
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
            label="Reject"
            about={name}
            question={`Reject ${name}?`}
            description="The developer reads it."
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
    ['Application', application_name],
    ['Account', account_email],
    ['Countries', countries.length === 0 ? 'All' : countries.join(', ')],
    ['Requested', <Time key="requested" at={created_at} />],
    ...(sender.status === 'approved'
      ? ([
          ['Carriers', carriers.length === 0 ? 'All' : carriers.join(', ')],
          ['Registration', registration ?? '–'],
          ['Texts a second', per_second ?? 'No limit'],
        ] satisfies [string, React.ReactNode][])
      : []),
    ...(reason === null ? [] : ([['Reason', reason]] satisfies [string, string][])),
  ];
}
