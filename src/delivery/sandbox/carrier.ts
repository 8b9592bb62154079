import type { MessageErrorCode } from '../../messages/message.ts';
import { testNumberOf } from '../../messages/numbers/test-numbers.ts';
import type { Log } from '../../platform/log.ts';
import { createWakeableSleep } from '../../platform/work/wakeable-sleep.ts';
import type { Carrier, OutgoingText, SubmitResult } from '../carrier/carrier.ts';
import { sandboxCarrier } from '../carrier/carrier.ts';

/** The part of the sandbox's virtual phones that this carrier uses. */
export interface Phones {
  receive(
    texts: {
      applicationId: string;
      to: string;
      messageId: string;
      attempt: number;
      delivered: boolean;
      /** The delay of the text's receipt beyond that of others. */
      receiptLaterMs: number;
      /** A call rings for `receiptLaterMs`, unless a person at the phone answers or declines it before. */
      rings: boolean;
    }[],
  ): Promise<void>;
  reportDue(handOver: (receipts: NetworkReceipt[]) => Promise<void>): Promise<number>;
}

interface NetworkReceipt {
  messageId: string;
  attempt: number;
  to: string;
  delivered: boolean;
  /** What a person at the phone did with a call, as the reason of its failure. */
  error?: string | null;
}

/** Polls beside the timers of submits: they find receipts of texts that another process submitted. */
const poll = { fromMs: 1000, toMs: 4000 };
/** While calls ring: a person may answer or decline one at any time, in another process. */
const pollCallsMs = 500;
/** A call that rings for this long ends without an answer. */
const longestRingMs = 20_000;
/** A call that no person takes is answered by itself after this time. */
const ringMs = 3000;
/** A little more than the phones take to report, so that one poll finds a whole submit. */
const reportAfterMs = 105;
/** Two batches: virtual phones accept any number of texts. */
const capacity = { first: 1000, bulk: 1000 };

/** Delivers to virtual phones; no text leaves the machine. */
export function createSandboxCarrier(phones: Phones, log: Log): Carrier {
  const sleep = createWakeableSleep();
  let reporting: Promise<void> = Promise.resolve();
  let reportTimer: NodeJS.Timeout | undefined;
  /** One for each submit with a late receipt: claims come some dozen times a second at most. */
  const lateTimers = new Set<NodeJS.Timeout>();
  /** Set while a call may ring. */
  let ringTimer: NodeJS.Timeout | undefined;

  function reportSoon(): void {
    reportTimer ??= setTimeout(() => {
      reportTimer = undefined;
      sleep.wake();
    }, reportAfterMs);
  }

  function reportLate(laterMs: number): void {
    const timer = setTimeout(() => {
      lateTimers.delete(timer);
      sleep.wake();
    }, laterMs + reportAfterMs);
    lateTimers.add(timer);
  }

  function watchCalls(): void {
    clearTimeout(ringTimer);
    ringTimer = setTimeout(() => {
      ringTimer = undefined;
    }, longestRingMs + poll.toMs);
  }

  return {
    key: sandboxCarrier,
    account: sandboxCarrier,
    submitTimeoutMs: 5000,
    repeatsMessageId: true,
    watchesItself: false,
    onDoubt: undefined,
    capacity: () => capacity,

    async submit(texts, answer, progress) {
      for (const index of texts.keys()) progress?.(index, 'written');
      const answers = texts.map(answerTo);
      const arriving = texts.filter((_, index) => answers[index]?.outcome === 'accepted').map(toArriving);
      if (arriving.length > 0) await phones.receive(arriving);
      reportSoon();
      const late = new Set(arriving.map(({ receiptLaterMs }) => receiptLaterMs).filter((ms) => ms > 0));
      for (const laterMs of late) reportLate(laterMs);
      if (arriving.some(({ rings }) => rings)) watchCalls();
      for (const [index, result] of answers.entries()) answer(index, result);
    },

    start(receive) {
      const handOver = (due: NetworkReceipt[]) => receive(due.map(toReceipt));
      async function report(): Promise<void> {
        for (let pauseMs = poll.fromMs; !sleep.stopped; ) {
          const seen = sleep.wakes;
          try {
            while (!sleep.stopped && (await phones.reportDue(handOver)) > 0) pauseMs = poll.fromMs;
          } catch (error) {
            log.debug({ reason: (error as Error).message }, 'sandbox receipts could not be reported');
          }
          if (sleep.wakes === seen) await sleep.untilWoken(ringTimer === undefined ? pauseMs : pollCallsMs);
          pauseMs = sleep.wakes === seen ? Math.min(poll.toMs, pauseMs * 2) : poll.fromMs;
        }
      }
      reporting = report();
    },

    async stop() {
      sleep.stop();
      clearTimeout(reportTimer);
      clearTimeout(ringTimer);
      for (const timer of lateTimers) clearTimeout(timer);
      await reporting;
    },
  };
}

function answerTo({ attempt, to, way }: OutgoingText): SubmitResult {
  const kind = testNumberOf(to)?.kind;
  if (kind === 'no_whatsapp' && way?.channel === 'whatsapp') return { outcome: 'never', error: 'not_on_channel' };
  switch (kind) {
    case 'blocked':
      return { outcome: 'never', error: 'blocked_by_carrier' };
    case 'failed_permanent':
      return { outcome: 'never', error: 'invalid_destination' };
    default:
      return { outcome: 'accepted', carrierMessageId: carrierIdOf(attempt) };
  }
}

/** Why a call to a test number does not get through; null if it does. */
function callError({ to, way }: Pick<OutgoingText, 'to' | 'way'>): 'no_answer' | 'busy' | null {
  const kind = way?.channel === 'voice' ? testNumberOf(to)?.kind : undefined;
  return kind === 'no_answer' || kind === 'busy' ? kind : null;
}

function toArriving(text: OutgoingText) {
  const { applicationId, to, messageId, attempt } = text;
  const test = testNumberOf(to);
  const callFails = callError(text);
  const isLate = test?.kind === 'delivered_late' || (test?.kind === 'no_answer' && callFails !== null);
  const delivered = test?.kind !== 'undelivered' && callFails === null;
  const rings = delivered && text.way?.channel === 'voice';
  return {
    applicationId,
    to,
    messageId,
    attempt,
    delivered,
    receiptLaterMs: isLate ? test.afterMs : rings ? ringMs : 0,
    rings,
  };
}

function toReceipt({ messageId, attempt, delivered, to, error }: NetworkReceipt) {
  const outcome = delivered ? ('delivered' as const) : ('undelivered' as const);
  return {
    carrierMessageId: carrierIdOf(attempt),
    keys: [],
    numbers: [],
    messageId,
    outcome,
    error: delivered ? null : error === 'busy' || error === 'no_answer' ? error : errorOf(to),
  };
}

/** Texts to test numbers that do not answer arrive, so only calls to them fail. */
function errorOf(to: string): MessageErrorCode {
  const kind = testNumberOf(to)?.kind;
  return kind === 'no_answer' || kind === 'busy' ? kind : 'unreachable';
}

/** The network's own id of a text. It repeats our id in receipts, so the attempt is enough to distinguish copies. */
function carrierIdOf(attempt: number): string {
  return String(attempt);
}
