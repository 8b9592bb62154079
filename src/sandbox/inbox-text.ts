import type { Message } from '../messages/message.ts';
import { findMessages } from '../messages/message-store.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import type { VirtualCalls } from './calls.ts';
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
  findRinging: VirtualCalls['findRinging'];
}

/** The language of a code's text, for a voice that reads it. */
export type LanguageOfText = (message: Message) => string;

export function createArrivalRenderer(options: ArrivalRendererOptions): RenderArrivals {
  const { database, renderTexts, languageOf, findRinging } = options;
  return async (arrivals) => {
    if (arrivals.length === 0) return [];
    const ids = [...new Set(arrivals.map(({ messageId }) => messageId))];
    const found = await findMessages(database, ids);
    const texts = await renderTexts(found);
    const rendered = new Map(found.map((message, index) => [message.id, { message, text: texts[index] ?? '' }]));
    const isCall = ({ messageId }: HandsetText) => rendered.get(messageId)?.message.channel === 'voice';
    const ringing = await findRinging(arrivals.filter(isCall).map(({ id }) => id));
    return arrivals.flatMap((arrival) => {
      const each = rendered.get(arrival.messageId);
      if (each === undefined) return [];
      const way = wayOf(each.message, languageOf, ringing.has(arrival.id));
      return [{ arrival, item: { ...toItem(arrival, each.message, each.text), ...way } }];
    });
  };
}

function toItem(arrival: HandsetText, message: Message, text: string): object {
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
  };
}

/** The fields that show a call or a WhatsApp message; none for an SMS. */
function wayOf(message: Message, languageOf: LanguageOfText, ringing: boolean): object {
  const { channel } = message;
  if (channel === 'sms') return {};
  return { channel, language: languageOf(message), ...(channel === 'voice' && { ringing }) };
}
