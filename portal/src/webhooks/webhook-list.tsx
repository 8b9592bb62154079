import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { applicationPath, call } from '../api/call.ts';
import type { NewWebhook, Webhook } from '../api/types.ts';
import { ListenLine } from '../events/listen-line.tsx';
import { Icon } from '../parts/icon.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { Status } from '../parts/status.tsx';
import { useCanChange } from '../session/role.ts';
import { useList } from '../session/use-load.ts';
import { words } from '../words/webhooks.tsx';
import { NewSecret } from './new-secret.tsx';
import { WebhookForm } from './webhook-form.tsx';
import { healthOf, typesOf } from './webhook-words.tsx';
import styles from './webhooks.module.css';

const refreshMs = 5000;

export function WebhookList({ applicationId }: { applicationId: string }) {
  const [, navigate] = useLocation();
  const [adding, setAdding] = useState(false);
  const [made, setMade] = useState<NewWebhook>();
  const path = applicationPath(applicationId, '/webhooks');
  const here = `/applications/${applicationId}/webhooks`;
  const { data, problem, reload } = useList<Webhook>(path, refreshMs);
  const canChange = useCanChange();
  const add = canChange && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      {words.list.add}
    </Button>
  );
  return (
    <Stack gap="lg">
      <Panel title={words.list.title} lead={words.list.lead} actions={data?.length ? add : undefined}>
        <Stack>
          <ProblemCallout problem={problem} onRetry={reload} />
          {data === undefined && problem === undefined && <Skeleton height={160} />}
          {data?.length === 0 && (
            <EmptyState title={words.list.empty} action={add}>
              {words.list.emptyNext(applicationId)}
            </EmptyState>
          )}
          {data !== undefined && data.length > 0 && (
            <ul className={styles.list}>
              {data.map((webhook) => (
                <li key={webhook.id}>
                  <Link href={`${here}/${webhook.id}`} className={styles.item ?? ''}>
                    <Status state={webhook.status} />
                    <span className={styles.url}>
                      {webhook.url}
                      {webhook.description !== null && <span className={styles.quiet}>{webhook.description}</span>}
                    </span>
                    <span className={styles.quiet}>{typesOf(webhook)}</span>
                    <span className={styles.quiet}>{healthOf(webhook)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </Stack>
        {adding && (
          <WebhookForm
            title={words.list.add}
            action={words.list.add}
            onClose={() => setAdding(false)}
            save={async (fields) => {
              setMade(await call<NewWebhook>('POST', path, { body: fields }));
              setAdding(false);
            }}
          />
        )}
        {made && <NewSecret secret={made.secret} onClose={() => navigate(`${here}/${made.id}`)} />}
      </Panel>
      {data?.length === 0 && <ListenLine applicationId={applicationId} />}
    </Stack>
  );
}
