import type { MessageErrorCode } from '../../messages/message.ts';
import { testNumberOf } from '../../messages/test-numbers.ts';
import type { Log } from '../../platform/log.ts';
import type { Carrier, OutgoingText, SubmitResult } from '../carrier.ts';

/** The part of the sandbox's virtual phones that this carrier uses. */
export interface Phones {
  receive(
    texts: {
      applicationId: string;
      to: string;
      messageId: string;
      attempt: number;
      receiptOutcome: 'delivered' | 'undelivered';
      receiptError: string | null;
      receiptAfterMs: number;
    }[],
  ): Promise<void>;
  reportDue(
    handOver: (
      receipts: { messageId: string; attempt: number; outcome: 'delivered' | 'undelivered'; error: string | null }[],
    ) => Promise<void>,
  ): Promise<number>;
}

/** Long enough to observe the status `sent`, short enough not to annoy. */
const receiptAfterMs = 100;
const reportEveryMs = 50;

/** Delivers to virtual phones; no text leaves the machine. */
export function createSandboxCarrier(phones: Phones, log: Log): Carrier {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let reporting: Promise<void> = Promise.resolve();

  return {
    name: 'sandbox',
    maxBatch: 500,
    submitTimeoutMs: 5000,

    async submit(texts) {
      const answers = texts.map(answerTo);
      const arriving = texts.filter((_, index) => answers[index]?.outcome === 'accepted').map(toArriving);
      if (arriving.length > 0) await phones.receive(arriving);
      return answers;
    },

    start(receive) {
      async function report(): Promise<void> {
        try {
          const handOver: Parameters<Phones['reportDue']>[0] = (due) =>
            receive(
              due.map(({ messageId, attempt, outcome, error }) => ({
                carrierMessageId: carrierIdOf(messageId, attempt),
                messageId,
                outcome,
                error: error as MessageErrorCode | null,
              })),
            );
          while (!stopped && (await phones.reportDue(handOver)) > 0);
        } catch (error) {
          log.debug({ reason: (error as Error).message }, 'sandbox receipts could not be reported');
        }
        if (!stopped) timer = setTimeout(() => (reporting = report()), reportEveryMs);
      }
      reporting = report();
    },

    async stop() {
      stopped = true;
      clearTimeout(timer);
      await reporting;
    },
  };
}

function answerTo({ messageId, attempt, to }: OutgoingText): SubmitResult {
  switch (testNumberOf(to)?.kind) {
    case 'blocked':
      return { outcome: 'never', error: 'blocked_by_carrier' };
    case 'failed_permanent':
      return { outcome: 'never', error: 'invalid_destination' };
    default:
      return { outcome: 'accepted', carrierMessageId: carrierIdOf(messageId, attempt) };
  }
}

function toArriving({ applicationId, to, messageId, attempt }: OutgoingText) {
  const test = testNumberOf(to);
  const undelivered = test?.kind === 'undelivered';
  return {
    applicationId,
    to,
    messageId,
    attempt,
    receiptOutcome: undelivered ? ('undelivered' as const) : ('delivered' as const),
    receiptError: undelivered ? 'unreachable' : null,
    receiptAfterMs: test?.kind === 'delivered_late' ? test.afterMs : receiptAfterMs,
  };
}

function carrierIdOf(messageId: string, attempt: number): string {
  return `${messageId}.${attempt}`;
}
