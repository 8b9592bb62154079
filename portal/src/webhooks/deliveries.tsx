import { Group, SegmentedControl, Stack } from '@mantine/core';
import { withQuery } from '../api/call.ts';
import type { WebhookDelivery } from '../api/types.ts';
import { useFilters } from '../location.ts';
import { Quiet, RecordList, RowNumber, RowText } from '../parts/list/record-list.tsx';
import { firstPage, usePages } from '../parts/list/use-pages.ts';
import { Panel } from '../parts/panel.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { words } from '../words/webhooks.tsx';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { ReplaySpan } from './replay-span.tsx';

const states = [
  { value: '', label: words.deliveries.all },
  { value: 'delivered', label: words.deliveries.delivered },
  { value: 'waiting', label: words.deliveries.waiting },
  { value: 'failed', label: words.deliveries.failed },
];

interface DeliveriesProps {
  applicationId: string;
  webhookId: string;
  /** The webhook's path in the API. */
  path: string;
  eventId: string | undefined;
}

/** Every event that was sent to a webhook; the drawer shows every attempt. */
export function Deliveries({ applicationId, webhookId, path, eventId }: DeliveriesProps) {
  const canChange = useCanChange();
  const filters = useFilters({ status: '', ...firstPage });
  const { values, change, query } = filters;
  const { status } = values;
  const pages = usePages<WebhookDelivery, typeof values>(withQuery(`${path}/deliveries`, { status }), filters);
  const here = `/applications/${applicationId}/webhooks/${webhookId}`;
  return (
    <Panel
      title={words.deliveries.title}
      lead={words.deliveries.lead}
      actions={canChange && <ReplaySpan path={path} onReplay={pages.reload} />}
    >
      <Stack>
        <Group>
          <SegmentedControl
            aria-label={words.deliveries.status}
            value={status}
            onChange={(chosen) => change({ status: chosen, ...firstPage })}
            data={states}
          />
        </Group>
        <RecordList
          label={words.deliveries.title}
          pages={pages}
          columns={words.deliveries.columns}
          searched={status !== ''}
          nothing={{ title: words.deliveries.empty, text: words.deliveries.emptyNext(applicationId) }}
          counted={words.deliveries.counted}
          hrefOf={({ event_id }) => `${here}/${event_id}${query}`}
          idOf={({ event_id }) => event_id}
          opened={eventId}
          renderItem={({ status: state, to, type, attempts, time }) => (
            <>
              <Status state={state} />
              <RowNumber>{to}</RowNumber>
              <RowText>
                <strong>{type}</strong> <Quiet>{words.delivery.attempts(attempts.length)}</Quiet>
              </RowText>
              <Quiet>
                <Time at={time} />
              </Quiet>
            </>
          )}
        />
      </Stack>
      {eventId !== undefined && (
        <DeliveryDrawer
          key={eventId}
          applicationId={applicationId}
          path={path}
          eventId={eventId}
          back={`${here}${query}`}
          onReplay={pages.reload}
        />
      )}
    </Panel>
  );
}
