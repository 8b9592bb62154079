import { Button, Group, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { withQuery } from '../api/call.ts';
import type { WebhookDelivery } from '../api/types.ts';
import { useList } from '../api/use-load.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { DeliveryRow } from './delivery-row.tsx';
import { ReplaySpan } from './replay-span.tsx';
import styles from './webhooks.module.css';

const refreshMs = 2000;
const states = [
  { value: '', label: 'All' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'failed', label: 'Failed' },
];

/** Every event that was sent to a webhook, with every attempt. */
export function Deliveries({ applicationId, path }: { applicationId: string; path: string }) {
  const [status, setStatus] = useState('');
  const list = useList<WebhookDelivery>(withQuery(`${path}/deliveries`, { status }), refreshMs);
  const { data, problem, reload, showMore } = list;
  return (
    <Panel
      title="Deliveries"
      lead="Newest event first. Open one to see every attempt."
      actions={<ReplaySpan path={path} onReplay={reload} />}
    >
      <Stack>
        <Group>
          <SegmentedControl aria-label="Status of deliveries" value={status} onChange={setStatus} data={states} />
        </Group>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={160} />}
        {data?.length === 0 && status !== '' && (
          <EmptyState title={`No ${status} deliveries`}>Choose All to see the others.</EmptyState>
        )}
        {data?.length === 0 && status === '' && (
          <EmptyState title="No deliveries yet">
            Send a text under <Link href={`/applications/${applicationId}/try`}>Try it</Link>. Its events appear here
            after their first attempt.
          </EmptyState>
        )}
        {data !== undefined && data.length > 0 && (
          <ul className={styles.list}>
            {data.map((delivery) => (
              <li key={delivery.event_id}>
                <DeliveryRow applicationId={applicationId} delivery={delivery} path={path} onReplay={reload} />
              </li>
            ))}
          </ul>
        )}
        {showMore && (
          <Button variant="default" onClick={showMore}>
            Show more
          </Button>
        )}
      </Stack>
    </Panel>
  );
}
