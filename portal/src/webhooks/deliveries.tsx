import { Button, Group, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { withQuery } from '../api/call.ts';
import type { WebhookDelivery } from '../api/types.ts';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { useCanChange } from '../session/role.ts';
import { useList } from '../session/use-load.ts';
import { words } from '../words/webhooks.tsx';
import { DeliveryRow } from './delivery-row.tsx';
import { ReplaySpan } from './replay-span.tsx';
import styles from './webhooks.module.css';

const refreshMs = 2000;
const states = [
  { value: '', label: words.deliveries.all },
  { value: 'delivered', label: words.deliveries.delivered },
  { value: 'waiting', label: words.deliveries.waiting },
  { value: 'failed', label: words.deliveries.failed },
];

/** Every event that was sent to a webhook, with every attempt. */
export function Deliveries({ applicationId, path }: { applicationId: string; path: string }) {
  const canChange = useCanChange();
  const [status, setStatus] = useState('');
  const list = useList<WebhookDelivery>(withQuery(`${path}/deliveries`, { status }), refreshMs);
  const { data, problem, reload, showMore } = list;
  return (
    <Panel
      title={words.deliveries.title}
      lead={words.deliveries.lead}
      actions={canChange && <ReplaySpan path={path} onReplay={reload} />}
    >
      <Stack>
        <Group>
          <SegmentedControl aria-label={words.deliveries.status} value={status} onChange={setStatus} data={states} />
        </Group>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={160} />}
        {data?.length === 0 && status !== '' && (
          <EmptyState title={words.deliveries.noneOf(status)}>{words.deliveries.noneNext}</EmptyState>
        )}
        {data?.length === 0 && status === '' && (
          <EmptyState title={words.deliveries.empty}>{words.deliveries.emptyNext(applicationId)}</EmptyState>
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
            {words.more}
          </Button>
        )}
      </Stack>
    </Panel>
  );
}
