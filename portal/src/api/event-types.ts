/** Events, as the service answers them. */
import type { ToldEvent } from '../../../src/events/event.ts';

export type { EventType, ToldEvent as AppEvent } from '../../../src/events/event.ts';

export interface EventDelivery {
  webhook_id: string;
  url: string;
  status: 'waiting' | 'delivered' | 'failed';
  attempts: number;
}
export interface EventsPage {
  data: (ToldEvent & { deliveries?: EventDelivery[] })[];
  next_cursor: string | null;
  listening: boolean;
}
