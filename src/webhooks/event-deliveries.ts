import type { Tx } from '../platform/database/database.ts';
import { findDeliveries } from './delivery-store.ts';
import { listWebhooks } from './store.ts';
import { type DeliveryStatus, mostWebhooks, type Webhook } from './webhook.ts';

/** The delivery of an event to one webhook. */
export interface EventDelivery {
  webhook: Webhook;
  status: DeliveryStatus;
  attempts: number;
}

/** The deliveries of events, by position. A webhook that was not called yet has none. */
export async function findEventDeliveries(
  tx: Tx,
  applicationId: string,
  positions: number[],
): Promise<Map<number, EventDelivery[]>> {
  const webhooks = await listWebhooks(tx, applicationId, mostWebhooks);
  const byId = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
  const found = new Map<number, EventDelivery[]>();
  for (const { webhookId, position, status, attempts } of await findDeliveries(tx, [...byId.keys()], positions)) {
    const webhook = byId.get(webhookId);
    if (webhook === undefined) continue;
    const others = found.get(position) ?? [];
    found.set(position, [...others, { webhook, status, attempts: attempts.length }]);
  }
  return found;
}
