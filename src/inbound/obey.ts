import type { InboundSource } from '../delivery/carrier/carrier.ts';
import { insertMessages } from '../messages/message-insert-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import type { Inbound } from './inbound.ts';
import { findLately } from './inbound-store.ts';
import type { ToldScope } from './opt-out.ts';
import type { OptOuts } from './opt-outs.ts';
import type { OwnNumber } from './own-number.ts';
import { type Answering, confirmedEveryMs, lookedAtMs, mayReply, mostLookedAt, replyText, toMessage } from './reply.ts';
import { insertReply, wasConfirmed } from './reply-store.ts';
import type { Word } from './words.ts';

/** The application that answers for a number. */
export type Holder = Pick<OwnNumber, 'applicationId' | 'api'>;

export interface ObeyOptions {
  clock: Clock;
  optOuts: OptOuts;
  /** What an application says of itself; undefined if it is gone. */
  findAnswering: (tx: Tx, applicationId: string) => Promise<Answering | undefined>;
}

/** A text that is a word, and the number that it was sent to. */
export interface WordText {
  text: Pick<Inbound, 'id' | 'from' | 'to' | 'body'>;
  word: Word;
  /** What the person means: the number, and all applications that hold it. */
  scopes: ToldScope[];
  /** Answers; undefined if no application holds the number. */
  holder: Holder | undefined;
  source: InboundSource;
  /** Whether `from` is a number of ours. */
  isOwn: boolean;
}

/** Does what words ask for. The caller has locked the phones' numbers: two texts of one phone are obeyed in turn. */
export function createObey({ clock, optOuts, findAnswering }: ObeyOptions) {
  /** Opts the phone out. It is right for a repeat too: the person wants no texts. */
  function stop(tx: Tx, { text, scopes, word }: Pick<WordText, 'text' | 'scopes' | 'word'>): Promise<boolean> {
    return optOuts.stop(tx, text.from, scopes, word.word);
  }

  async function reply(tx: Tx, { text, word, holder, source, isOwn }: WordText): Promise<boolean> {
    if (holder === undefined || source.confirmsOptOuts === true) return false;
    const { from, to } = text;
    const nowMs = clock.nowMs();
    const around = { from, to, sinceMs: nowMs - lookedAtMs, before: text.id, most: mostLookedAt };
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
    async obey(tx: Tx, given: WordText): Promise<boolean> {
      const { text, word, scopes } = given;
      if (word.kind === 'stop') await stop(tx, given);
      if (word.kind === 'start') {
        // Such a word means something only to those who are out.
        const wasOut = await optOuts.start(tx, text.from, scopes, word.word);
        if (!wasOut) return false;
      }
      return reply(tx, given);
    },
  };
}
