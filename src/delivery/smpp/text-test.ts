// Tests: test/smpp/carrier-trial.test.ts
import type { Clock } from '../../platform/clock.ts';
import type { Carrier, Receipt, SubmitResult } from '../carrier/carrier.ts';
import { isNumber } from '../carrier/reported-number.ts';
import { type ClaimedTest, type TestStep, testReceiptWithinMs } from '../carrier/test-store.ts';
import { describeReceipt, describeResult, noReceipts, type StepReport, sendTestText } from '../carrier/test-text.ts';
import type { SmppSettings } from './settings.ts';

export interface TextTestOptions {
  test: ClaimedTest;
  settings: SmppSettings;
  clock: Clock;
  submit: Carrier['submit'];
  /**
   * Calls `onReceipt` with every receipt, until the returned function is called. If it returns true, no message gets the
   * receipt.
   */
  watchReceipts: (onReceipt: (receipt: Receipt) => boolean) => () => void;
  onStep: (step: TestStep) => Promise<void>;
}

const mostSeen = 10_000;
const lookAgainMs = 1000;

/** The last two steps of a test: one text through the carrier's own connections, and its receipt. */
export async function testText(options: TextTestOptions): Promise<void> {
  const { test, settings, clock, submit, watchReceipts, onStep } = options;
  const beganMs = clock.steadyMs();
  // Collects receipts from the start: one may come before the answer.
  const seen: Receipt[] = [];
  let onSeen = () => {};
  let receiptKey: string | undefined;
  const unwatch = watchReceipts((receipt) => {
    if (seen.push(receipt) > mostSeen) seen.shift();
    onSeen();
    return isOf(test, receiptKey, receipt);
  });
  try {
    const onAnswer = (answer: SubmitResult) => {
      if (answer.outcome === 'accepted') receiptKey = answer.receiptKey;
    };
    const result = await sendTestText({ test, clock, submit, onAnswer });
    await onStep({ step: 'text', ...describeResult(result), tookMs: clock.steadyMs() - beganMs });
    if (result.outcome !== 'accepted') return;
    const sentMs = clock.steadyMs();
    const find = () => seen.find(({ keys }) => keys.includes(result.receiptKey ?? ''));
    const report = settings.receipts === 'none' ? noReceipts : describeWait(await waitFor(find));
    await onStep({ step: 'receipt', ...report, tookMs: clock.steadyMs() - sentMs });
  } finally {
    unwatch();
  }

  async function waitFor(find: () => Receipt | undefined): Promise<Receipt | undefined> {
    const untilMs = clock.steadyMs() + testReceiptWithinMs;
    for (let found = find(); ; found = find()) {
      if (found !== undefined || clock.steadyMs() >= untilMs) return found;
      await new Promise<void>((resolve) => {
        onSeen = resolve;
        setTimeout(resolve, lookAgainMs).unref();
      });
    }
  }
}

/** Some carriers give many texts the same id, or none: such a receipt may be for a message. */
function isOf({ to }: ClaimedTest, receiptKey: string | undefined, receipt: Receipt): boolean {
  if (!receiptKey || !receipt.keys.includes(receiptKey)) return false;
  return receipt.numbers.some((number) => isNumber(number, to));
}

const noReceipt =
  'No receipt came within 120 s. Ask the provider whether receipts are switched on. ' +
  'If another carrier has the same account, that one may have got it.';

function describeWait(receipt: Receipt | undefined): StepReport {
  if (receipt === undefined) return { ok: false, detail: noReceipt };
  return describeReceipt(receipt);
}
