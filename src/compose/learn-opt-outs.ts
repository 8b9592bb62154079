import type { AnsweredText } from '../delivery/answered-text.ts';
import type { ChangedText } from '../delivery/receipt-store.ts';
import type { OptOuts } from '../inbound/opt-outs.ts';
import type { Database } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';

/**
 * Carriers swallow some stop words and refuse what is sent afterwards. What they refuse for this reason is an opt-out:
 * otherwise each text would be paid and refused again. A text that is not learnt from is followed by another one.
 */
export function learnOptOuts(optOuts: Pick<OptOuts, 'learn'>, database: Database, log: Log) {
  function learn(refused: { number: string; sender: string }[]): void {
    if (refused.length === 0) return;
    database
      .transaction((tx) => optOuts.learn(tx, refused))
      .catch(({ message: reason }: Error) => log.warn({ reason }, 'an opt-out at a carrier was not kept'));
  }

  return {
    fromAnswers: (texts: readonly AnsweredText[]) =>
      learn(
        texts
          .filter(({ answer }) => answer?.outcome === 'never' && answer.error === 'blocked_by_recipient')
          .map(({ claimed: { message } }) => ({ number: message.to, sender: message.sender })),
      ),
    fromReceipts: (texts: readonly ChangedText[]) => learn(texts.map(({ to, sender }) => ({ number: to, sender }))),
  };
}
