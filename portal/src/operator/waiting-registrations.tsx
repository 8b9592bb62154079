import { Button, Skeleton, Stack } from '@mantine/core';
import { apiTitle, planTitle } from '../api/apis.ts';
import { call } from '../api/call.ts';
import type { WaitingRegistration } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { useList } from '../api/use-load.ts';
import { Empty } from '../parts/empty.tsx';
import { Facts } from '../parts/facts.tsx';
import { useNotice } from '../parts/notice.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Time } from '../parts/time.tsx';
import styles from './operator.module.css';

const refreshMs = 5000;

export default function WaitingRegistrations() {
  const { data, problem, reload, showMore } = useList<WaitingRegistration>(
    '/portal/v1/operator/registrations?status=pending',
    refreshMs,
  );
  return (
    <>
      <PageTitle lead="Nothing opens in production before you say so.">Registrations that wait for you</PageTitle>
      <Stack>
        <ProblemNote problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && <Empty title="Nobody is waiting">New registrations and plan changes appear here.</Empty>}
        {data?.map((registration) => (
          <Waiting key={registration.id} registration={registration} onDecided={reload} />
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

function Waiting({ registration, onDecided }: { registration: WaitingRegistration; onDecided: () => void }) {
  const tell = useNotice();
  const { id, application_name, api, plan, requested_plan, account_email, updated_at } = registration;
  const { run, busy, problem } = useAction(async (decision: 'approve' | 'reject') => {
    await call('POST', `/portal/v1/operator/registrations/${id}/${decision}`);
    tell(decision === 'approve' ? `${application_name} is approved.` : `${application_name} is rejected.`);
    onDecided();
  });
  const about = `${application_name} for ${apiTitle(api)}`;
  const asked = requested_plan === null ? planTitle(plan) : `${planTitle(plan)} → ${planTitle(requested_plan)}`;
  return (
    <article className={styles.waiting} aria-label={about}>
      <div className={styles.facts}>
        <h2 className={styles.name}>{application_name}</h2>
        <Facts
          facts={[
            ['API', apiTitle(api)],
            ['Plan', asked],
            ['Account', account_email],
            ['Asked', <Time key="asked" at={updated_at} />],
          ]}
        />
        <ProblemNote problem={problem} />
      </div>
      <div className={styles.decide}>
        <Button variant="default" disabled={busy} onClick={() => run('reject')} aria-label={`Reject ${about}`}>
          Reject
        </Button>
        <Button disabled={busy} onClick={() => run('approve')} aria-label={`Approve ${about}`}>
          Approve
        </Button>
      </div>
    </article>
  );
}
