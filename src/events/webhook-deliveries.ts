import type { StoredEvent } from './event.ts';
import type { Delivery } from './webhook.ts';

/** A delivery and its event. */
export interface ShownDelivery {
  eventId: string;
  event: StoredEvent;
  delivery: Delivery;
}
