import { Button, Skeleton, Stack } from '@mantine/core';
import { apiTitle, planTitle } from '../api/apis.ts';
import { call } from '../api/call.ts';
import type { WaitingRegistration } from '../api/types.ts';
import { Facts } from '../parts/facts.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { ReasonButton } from '../parts/reason-button.tsx';
import { ShowMore } from '../parts/table/show-more.tsx';
import { Time } from '../parts/time.tsx';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { useList } from '../session/use-load.ts';
import { words } from '../words/operator/pending-registrations.ts';
import styles from './operator.module.css';

const refreshMs = 5000;

export default function PendingRegistrations() {
  const { service } = useSession();
  const { data, problem, reload, showMore } = useList<WaitingRegistration>(
    '/portal/v1/operator/registrations?status=pending',
    refreshMs,
  );
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && (
          <EmptyState title={words.nothing.title}>
            {service.environment === 'sandbox' ? words.nothing.sandbox : words.nothing.production}
          </EmptyState>
        )}
        {data?.map((registration) => (
          <PendingRegistration key={registration.id} registration={registration} onDecided={reload} />
        ))}
        <ShowMore onClick={showMore} />
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
  const path = `/portal/v1/operator/registrations/${id}`;
  const { run, busy, problem } = useAction(async () => {
    await call('POST', `${path}/approve?plan=${requested_plan ?? plan}`);
    showToast(words.approved(application_name));
    onDecided();
  });

  async function reject(reason: string): Promise<void> {
    await call('POST', `${path}/reject`, { body: { reason } });
    showToast(words.rejected(application_name));
    onDecided();
  }

  const about = words.about(application_name, apiTitle(api));
  const asked = requested_plan === null ? planTitle(plan) : words.change(planTitle(plan), planTitle(requested_plan));
  return (
    <article className={styles.waiting} aria-label={about}>
      <div className={styles.facts}>
        <h2 className={styles.name}>{application_name}</h2>
        <Facts
          facts={[
            [words.facts.api, apiTitle(api)],
            [words.facts.plan, asked],
            [words.facts.account, account_email],
            [words.facts.requested, <Time key="requested" at={updated_at} />],
          ]}
        />
        <ProblemCallout problem={problem} />
      </div>
      <div className={styles.decide}>
        <ReasonButton
          label={words.reject}
          about={about}
          question={words.rejectQuestion(application_name)}
          description={words.rejectReason}
          act={reject}
        />
        <Button disabled={busy} onClick={() => run()} aria-label={words.approveOf(about)}>
          {words.approve}
        </Button>
      </div>
    </article>
  );
}
