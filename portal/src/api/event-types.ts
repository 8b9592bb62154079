/** Events, as the service answers them. */
export type { EventType } from '../../../src/events/event.ts';
