import { Button, Skeleton, Stack } from '@mantine/core';
import { apiTitle, planTitle } from '../api/apis.ts';
import { call } from '../api/call.ts';
import type { WaitingRegistration } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { useList } from '../api/use-load.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Facts } from '../parts/facts.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { Time } from '../parts/time.tsx';
import { useToast } from '../parts/toast.tsx';
import styles from './operator.module.css';

const refreshMs = 5000;

export default function PendingRegistrations() {
  const { data, problem, reload, showMore } = useList<WaitingRegistration>(
    '/portal/v1/operator/registrations?status=pending',
    refreshMs,
  );
  return (
    <>
      <PageTitle lead="In production, an application can call an API only after you approve it.">
        Pending registrations
      </PageTitle>
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && (
          <EmptyState title="No pending registrations">New registrations and plan changes appear here.</EmptyState>
        )}
        {data?.map((registration) => (
          <PendingRegistration key={registration.id} registration={registration} onDecided={reload} />
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

function PendingRegistration({
  registration,
  onDecided,
}: {
  registration: WaitingRegistration;
  onDecided: () => void;
}) {
  const showToast = useToast();
  const { id, application_name, api, plan, requested_plan, account_email, updated_at } = registration;
  const { run, busy, problem } = useAction(async (decision: 'approve' | 'reject') => {
    await call('POST', `/portal/v1/operator/registrations/${id}/${decision}`);
    showToast(decision === 'approve' ? `${application_name} approved.` : `${application_name} rejected.`);
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
            ['Requested', <Time key="requested" at={updated_at} />],
          ]}
        />
        <ProblemCallout problem={problem} />
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
