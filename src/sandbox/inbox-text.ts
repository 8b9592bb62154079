import type { Message } from '../messages/message.ts';
import { findMessages } from '../messages/message-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { HandsetText } from './handsets.ts';

/** A text on a virtual phone, as the API returns it. */
export interface InboxText {
  arrival: HandsetText;
  item: object;
}

/** Renders arrivals as texts. Skips arrivals whose message is gone. */
export type RenderArrivals = (arrivals: HandsetText[]) => Promise<InboxText[]>;

export interface ArrivalRendererOptions {
  database: Database;
  /** Renders at each read, so that no row holds a code. One text for each message, in order. */
  renderTexts: (messages: readonly Message[]) => Promise<string[]>;
  languageOf: LanguageOfText;
}

/** The language of a code's text, for a voice that reads it. */
export type LanguageOfText = (message: Message) => string;

export function createArrivalRenderer({ database, renderTexts, languageOf }: ArrivalRendererOptions): RenderArrivals {
  return async (arrivals) => {
    if (arrivals.length === 0) return [];
    const ids = [...new Set(arrivals.map(({ messageId }) => messageId))];
    const found = await findMessages(database, ids);
    const texts = await renderTexts(found);
    const rendered = new Map(found.map((message, index) => [message.id, { message, text: texts[index] ?? '' }]));
    return arrivals.flatMap((arrival) => {
      const each = rendered.get(arrival.messageId);
      return each === undefined ? [] : [{ arrival, item: toItem(arrival, each.message, each.text, languageOf) }];
    });
  };
}

function toItem(arrival: HandsetText, message: Message, text: string, languageOf: LanguageOfText): object {
  return {
    to: arrival.to,
    from: message.sentAs ?? message.sender,
    text,
    message_id: message.id,
    verification_id: message.verificationId,
    segments: {
      count: message.segmentCount,
      encoding: message.encoding,
      characters: message.characters,
      remaining: message.remaining,
    },
    received_at: toTimestamp(arrival.receivedAtMs),
    ...(message.channel !== 'sms' && { channel: message.channel, language: languageOf(message) }),
  };
}
