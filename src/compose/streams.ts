import { createStreamPlaces, type StreamPlaces } from '../http/streams/stream-places.ts';
import { composeEvents, type EventParts } from './events.ts';
import type { Foundation } from './foundation.ts';
import { composeInbox } from './inbox.ts';

/** Builds the live streams: the sandbox's inbox and the event feed. A node's only process counts their places itself. */
export function composeStreams(
  foundation: Foundation,
  parts: Omit<EventParts, 'places'>,
  places: StreamPlaces = createStreamPlaces(),
) {
  const inbox = composeInbox(foundation, places);
  const events = composeEvents(foundation, { ...parts, places });
  return {
    inbox,
    events,
    /** Checks the streams of an application again after its change; without an id, all streams. */
    recheck(applicationId?: string): void {
      inbox.streams.recheck(applicationId);
      events.streams.recheck(applicationId);
    },
    /** Ends all streams and waiting requests, when the service stops. */
    stop(): void {
      inbox.streams.stop();
      events.streams.stop();
    },
  };
}
