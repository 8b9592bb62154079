import type { AnsweredText } from '../delivery/attempts/answered-text.ts';
import type { ChangedText } from '../delivery/receipts/changed-text.ts';
import type { OptOuts, RefusedText } from '../inbound/opt-outs.ts';
import type { Message } from '../messages/message.ts';
import { findMessages } from '../messages/message-store.ts';
import { readNumber } from '../messages/numbers/phone-number.ts';
import type { Database } from '../platform/database/database.ts';
import { fromUuid } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';

/**
 * Carriers swallow some stop words and refuse what is sent afterwards. What they refuse for this reason is an opt-out:
 * otherwise each text would be paid and refused again. If one is missed, the next text brings another refusal.
 */
export function learnOptOuts(optOuts: Pick<OptOuts, 'learn'>, database: Database, log: Log) {
  function noteFailure({ message: reason }: Error): void {
    log.warn({ reason }, 'an opt-out at a carrier was not kept');
  }

  function learn(refused: Refused[]): void {
    // Who wants no calls or WhatsApp messages has said nothing about texts.
    const texts = refused.filter(({ channel }) => channel === 'sms').map(toRefused);
    if (texts.length > 0) database.transaction((tx) => optOuts.learn(tx, texts)).catch(noteFailure);
  }

  return {
    fromAnswers: (texts: readonly AnsweredText[]) =>
      learn(
        texts
          .filter(({ answer }) => answer?.outcome === 'never' && answer.error === 'blocked_by_recipient')
          .map(({ claimed: { message } }) => ({ ...message, channel: message.given?.channel ?? 'sms' })),
      ),
    fromReceipts(texts: readonly ChangedText[]): void {
      const ids = texts.map(({ id }) => fromUuid('msg', id));
      findMessages(database, ids).then((messages) => {
        // The last receipts may come after the number was masked.
        learn(messages.filter(({ to }) => readNumber(to) !== undefined));
      }, noteFailure);
    },
  };
}

type Refused = Pick<Message, 'to' | 'sender' | 'sentAs' | 'applicationId' | 'api' | 'channel'>;

/** The opt-out is from the sender of the refused text. */
function toRefused({ to, sender, sentAs, applicationId, api }: Refused): RefusedText {
  return { number: to, sender: sentAs ?? sender, notified: { applicationId, api } };
}
