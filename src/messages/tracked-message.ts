import type { TimelineEvent } from '../http/timeline.ts';
import type { Channel } from './channel.ts';
import { carrierNameOf, type Message, type MessageStatus, messageError } from './message.ts';
import type { SentText } from './text/sent-texts.ts';

/** A message with its delivery history. */
export interface TrackedMessage extends Message {
  attempt: number;
}

const ends: Partial<Record<MessageStatus, string>> = {
  delivered: 'Delivered to the phone.',
  undelivered: 'Not delivered to the phone.',
  failed: 'Not sent.',
  expired: 'Expired before delivery.',
  canceled: 'Canceled before it was sent.',
  unknown: 'No receipt arrived. The outcome is unknown.',
};

const endsOfCall: Partial<Record<MessageStatus, string>> = {
  delivered: 'The call was answered.',
  undelivered: 'The call did not reach the person.',
};

const otherAccepted: Partial<Record<Channel, string>> = {
  voice: 'Call accepted and stored',
  whatsapp: 'WhatsApp message accepted and stored',
};

/** Texts of one verification, as its record shows them. */
export function toSentTexts(texts: readonly Message[]): SentText[] {
  return texts.map(({ id: messageId, channel, status, errorCode, sentAtMs }) => {
    return { messageId, channel, status, errorCode, sentAtMs };
  });
}

/** The history of a text, from its row. */
export function messageTimeline(message: TrackedMessage): TimelineEvent[] {
  const { status, createdAtMs, sentAtMs, deliveredAtMs, updatedAtMs, segmentCount, encoding, errorCode } = message;
  const isCall = message.channel === 'voice';
  const accepted = otherAccepted[message.channel] ?? 'Message accepted and stored';
  const segments = `${segmentCount} ${segmentCount === 1 ? 'segment' : 'segments'}`;
  const parts = isCall ? `counts as ${segments}` : `${segments} of ${encoding}`;
  const events: TimelineEvent[] = [
    { atMs: createdAtMs, event: 'accepted', detail: `${accepted}: to ${message.to}, ${parts}` },
  ];
  if (status === 'scheduled') {
    events.push({
      atMs: message.sendAtMs ?? createdAtMs,
      event: 'scheduled',
      detail: 'To be sent at this time',
    });
  }
  if (sentAtMs !== null) {
    const tries = message.attempt > 1 ? ` on attempt ${message.attempt}` : '';
    const name = carrierNameOf(message.carrier);
    const doubt = message.possibleDuplicates > 0 ? '. It may have arrived more than once.' : '';
    events.push({ atMs: sentAtMs, event: 'sent', detail: `Accepted by carrier ${name}${tries}${doubt}` });
  }
  const end = (isCall ? endsOfCall[status] : undefined) ?? ends[status];
  if (end !== undefined) {
    const why = errorCode === null || status === 'expired' ? '' : ` ${messageError(errorCode)?.message}`;
    events.push({ atMs: deliveredAtMs ?? updatedAtMs, event: status, detail: `${end}${why}` });
  }
  return events;
}
