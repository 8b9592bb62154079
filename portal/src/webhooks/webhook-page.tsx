import { Skeleton, Stack } from '@mantine/core';
import { Suspense } from 'react';
import { Link } from 'wouter';
import { applicationPath } from '../api/call.ts';
import type { WebhookDetail } from '../api/types.ts';
import { ListenLine } from '../events/listen-line.tsx';
import { Facts } from '../parts/facts.tsx';
import { Icon } from '../parts/icon.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/webhooks.tsx';
import { Deliveries } from './deliveries.tsx';
import { VerifyCode } from './new-secret.tsx';
import { SendTest } from './send-test.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookState } from './webhook-state.tsx';
import { healthOf } from './webhook-words.tsx';
import styles from './webhooks.module.css';

const refreshMs = 3000;

interface WebhookPageProps {
  applicationId: string;
  id: string;
  /** The event of the delivery that the drawer shows. */
  eventId: string | undefined;
}

export function WebhookPage({ applicationId, id, eventId }: WebhookPageProps) {
  const path = applicationPath(applicationId, `/webhooks/${encodeURIComponent(id)}`);
  const { data: webhook, problem, reload } = useLoad<WebhookDetail>(path, refreshMs);
  const canChange = useCanChange();
  const back = `/applications/${applicationId}/webhooks`;
  const backLink = (
    <Link href={back} className={styles.back ?? ''}>
      <Icon name="back" size={16} /> {words.page.back}
    </Link>
  );
  if (webhook === undefined) {
    if (problem === undefined) return <Skeleton height={320} />;
    return (
      <Stack>
        {backLink}
        {problem.status === 404 ? (
          <Callout tone="bad" title={words.page.missing} />
        ) : (
          <ProblemCallout problem={problem} onRetry={reload} />
        )}
      </Stack>
    );
  }
  return (
    <Stack gap="lg">
      {backLink}
      <Panel
        title={webhook.description ?? words.page.webhook}
        lead={<code className={styles.address}>{webhook.url}</code>}
      >
        <Stack>
          <WebhookState webhook={webhook} path={path} onChange={reload} />
          <Facts
            facts={[
              [words.page.status, <Status key="status" state={webhook.status} />],
              [words.page.health, healthOf(webhook)],
              [words.events, webhook.types.length === 0 ? words.page.all : webhook.types.join(', ')],
              [words.page.created, <Time key="created" at={webhook.created_at} />],
              [words.page.secrets, <Secrets key="secrets" secrets={webhook.secrets} />],
            ]}
          />
          {canChange && <SendTest path={path} onSent={reload} />}
          {canChange && <WebhookActions webhook={webhook} path={path} back={back} onChange={reload} />}
        </Stack>
      </Panel>
      <Deliveries applicationId={applicationId} webhookId={id} path={path} eventId={eventId} />
      <ListenLine applicationId={applicationId} />
      <Panel title={words.page.verify} lead={words.page.verifyLead}>
        <details className={styles.details}>
          <summary>{words.page.showCode}</summary>
          <Suspense fallback={<Skeleton height={320} mt="sm" />}>
            <div className={styles.code}>
              <VerifyCode />
            </div>
          </Suspense>
        </details>
      </Panel>
    </Stack>
  );
}

/** The secrets in use. During a rotation the older ones have an expiry. */
function Secrets({ secrets }: { secrets: WebhookDetail['secrets'] }) {
  const ends = secrets.flatMap(({ ends_at }) => ends_at ?? []).toSorted();
  const last = ends.at(-1);
  if (last === undefined) return String(secrets.length);
  return (
    <>
      {words.page.signing(secrets.length, ends.length)} <Time at={last} />
    </>
  );
}
