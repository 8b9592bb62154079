import type { TimelineEvent } from '../http/timeline.ts';
import { type Message, type MessageStatus, messageError } from './message.ts';

/** A message with its delivery history. */
export interface TrackedMessage extends Message {
  attempt: number;
  possibleDuplicates: number;
}

const ends: Partial<Record<MessageStatus, string>> = {
  delivered: 'The phone has it.',
  undelivered: 'It did not reach the phone.',
  failed: 'It could not be sent.',
  expired: 'It was not delivered while it was valid.',
  canceled: 'It was canceled before it left.',
  unknown: 'No receipt came: nobody can tell whether it arrived.',
};

/** The history of a text, as far as its row tells it. */
export function messageTimeline(message: TrackedMessage): TimelineEvent[] {
  const { status, createdAtMs, sentAtMs, deliveredAtMs, updatedAtMs, segmentCount, encoding, errorCode } = message;
  const parts = `${segmentCount} ${segmentCount === 1 ? 'segment' : 'segments'} of ${encoding}`;
  const events: TimelineEvent[] = [
    { atMs: createdAtMs, event: 'accepted', detail: `The text for ${message.to} is on disk: ${parts}.` },
  ];
  if (status === 'scheduled') {
    events.push({ atMs: message.dueAtMs, event: 'scheduled', detail: 'It leaves at this time.' });
  }
  if (sentAtMs !== null) {
    const tries = message.attempt > 1 ? `, at attempt ${message.attempt}` : '';
    const doubt = message.possibleDuplicates > 0 ? ' It may have arrived more than once.' : '';
    events.push({ atMs: sentAtMs, event: 'sent', detail: `The carrier took it${tries}.${doubt}` });
  }
  const end = ends[status];
  if (end !== undefined) {
    const why = errorCode === null || status === 'expired' ? '' : ` ${messageError(errorCode)?.message}`;
    events.push({ atMs: deliveredAtMs ?? updatedAtMs, event: status, detail: `${end}${why}` });
  }
  return events;
}
