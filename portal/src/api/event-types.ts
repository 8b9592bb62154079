/** Events, as the service returns them. */
export type { EventType } from '../../../src/events/event.ts';
export type { EventRecord as AppEvent } from '../../../src/events/feed-api.ts';
export type {
  EventDeliveryRecord as EventDelivery,
  EventsPage,
  EventWithDeliveries,
} from '../../../src/portal/developer/event-api.ts';
