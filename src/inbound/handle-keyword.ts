// Tests: test/contract/inbound.test.ts
import type { InboundSource } from '../delivery/carrier/carrier.ts';
import { insertMessages } from '../messages/message-insert-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { Inbound } from './inbound.ts';
import { findLately } from './inbound-store.ts';
import type { NotifiedScope } from './opt-out.ts';
import type { OptOuts } from './opt-outs.ts';
import type { OwnNumber } from './own-number.ts';
import { type Answering, confirmedEveryMs, mayReply, mostRecent, recentMs, replyText, toMessage } from './reply.ts';
import { insertReply, wasConfirmed } from './reply-store.ts';
import type { Word } from './words.ts';

/** The application that answers for a number. */
export type Holder = Pick<OwnNumber, 'applicationId' | 'api'>;

export interface KeywordOptions {
  clock: Clock;
  optOuts: OptOuts;
  /** The application's name and help text; undefined if it is gone. */
  findAnswering: (tx: Tx, applicationId: string) => Promise<Answering | undefined>;
}

/** A text that is a keyword, and the number that it was sent to. */
export interface WordText {
  text: Pick<Inbound, 'id' | 'from' | 'to' | 'body'>;
  word: Word;
  /** What the keyword applies to: the number, and all applications that hold it. */
  scopes: NotifiedScope[];
  /** The application that answers; undefined if none holds the number. */
  holder: Holder | undefined;
  source: InboundSource;
  /** Whether `from` is a number of ours. */
  isOwn: boolean;
}

/** Handles keywords. The caller has locked the phones' numbers, so texts of one phone are handled one by one. */
export function createKeywordHandler({ clock, optOuts, findAnswering }: KeywordOptions) {
  /** Opts the phone out, also on a repeated text: the person wants no texts. */
  function stop(tx: Tx, { text, scopes, word }: Pick<WordText, 'text' | 'scopes' | 'word'>): Promise<boolean> {
    return optOuts.stop(tx, text.from, scopes, word.word);
  }

  async function reply(tx: Tx, { text, word, holder, source, isOwn }: WordText): Promise<boolean> {
    if (holder === undefined || source.confirmsOptOuts === true) return false;
    const { from, to } = text;
    const nowMs = clock.nowMs();
    const around = { from, to, sinceMs: nowMs - recentMs, before: text.id, most: mostRecent };
    const lately = await findLately(tx, around);
    if (!mayReply({ from, text: text.body ?? '', nowMs, lately, isOwn })) return false;
    const confirmation = word.kind !== 'help';
    const hashes = optOuts.hashes.all(from);
    const sinceMs = nowMs - confirmedEveryMs;
    if (confirmation && (await wasConfirmed(tx, { hashes, sender: to, sinceMs }))) return false;
    const answering = await findAnswering(tx, holder.applicationId);
    if (answering === undefined) return false;
    const answer = { to: from, from: to, text: replyText(word, answering), carrier: source.key, holder };
    const message = toMessage(answer, clock);
    await insertReply(
      tx,
      { messageId: message.id, hash: optOuts.hashes.newest(from), sender: to, confirmation },
      nowMs,
    );
    await insertMessages(tx, [message]);
    return true;
  }

  return {
    stop,
    /** Returns whether an answer is to be sent. */
    async handleKeyword(tx: Tx, given: WordText): Promise<boolean> {
      const { text, word, scopes } = given;
      if (word.kind === 'stop') await stop(tx, given);
      if (word.kind === 'start') {
        // A start word has a meaning only for people who opted out.
        const wasOut = await optOuts.start(tx, text.from, scopes, word.word);
        if (!wasOut) return false;
      }
      return reply(tx, given);
    },
  };
}
