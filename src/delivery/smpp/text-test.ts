import { type Clock, minuteMs } from '../../platform/clock.ts';
import type { Carrier, Receipt, SubmitResult } from '../carrier.ts';
import { type ClaimedTest, type TestStep, testReceiptWithinMs } from '../carrier-test-store.ts';
import type { SmppSettings } from './smpp-settings.ts';

export interface TextTestOptions {
  test: ClaimedTest;
  settings: SmppSettings;
  clock: Clock;
  submit: Carrier['submit'];
  /** Calls back with every receipt, until the returned function is called. True keeps it from the messages. */
  watchReceipts: (onReceipt: (receipt: Receipt) => boolean) => () => void;
  onStep: (step: TestStep) => Promise<void>;
}

const validMs = 5 * minuteMs;
const mostSeen = 10_000;
const lookAgainMs = 1000;
/** Carriers write numbers with and without prefixes. */
const comparedDigits = 8;

/** The last two steps of a test: one text through the carrier's own connections, and its receipt. */
export async function testText(options: TextTestOptions): Promise<void> {
  const { test, settings, clock, watchReceipts, onStep } = options;
  const beganMs = clock.steadyMs();
  // From the beginning: the receipt may come before the answer.
  const seen: Receipt[] = [];
  let onSeen = () => {};
  let receiptKey: string | undefined;
  const unwatch = watchReceipts((receipt) => {
    if (seen.push(receipt) > mostSeen) seen.shift();
    onSeen();
    return isOf(test, receiptKey, receipt);
  });
  try {
    const result = await sendOne(options, (answer) => {
      // At once: the receipt may be in the same packet.
      if (answer.outcome === 'accepted') receiptKey = answer.receiptKey;
    });
    await onStep({ step: 'text', ...describeResult(result), tookMs: clock.steadyMs() - beganMs });
    if (result.outcome !== 'accepted') return;
    const sentMs = clock.steadyMs();
    const find = () => seen.find(({ keys }) => keys.includes(result.receiptKey ?? ''));
    const told = settings.receipts === 'none' ? noReceipts : describeReceipt(await waitFor(find));
    await onStep({ step: 'receipt', ...told, tookMs: clock.steadyMs() - sentMs });
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
  return receipt.numbers.some((number) => to.endsWith(number.slice(-comparedDigits)));
}

async function sendOne(
  { test, clock, submit }: TextTestOptions,
  onAnswer: (result: SubmitResult) => void,
): Promise<SubmitResult> {
  let result: SubmitResult = { outcome: 'not_sent' };
  const { id: messageId, to, from, message: text } = test;
  const expiresAtMs = clock.nowMs() + validMs;
  // An operator waits for it as a person waits for a code.
  const urgent = { lane: 'first', isCode: true } as const;
  await submit(
    [
      {
        messageId,
        attempt: 1,
        applicationId: '',
        ...urgent,
        to,
        from,
        text,
        templateId: null,
        expiresAtMs,
        parts: [],
        form: null,
      },
    ],
    (_, given) => {
      result = given;
      onAnswer(given);
    },
  );
  return result;
}

const noReceipt =
  'No receipt came within 120 s. Ask the provider whether receipts are switched on. ' +
  'If another carrier has the same account, that one may have got it.';
const noReceipts = { ok: true, detail: 'The settings say that this carrier gives no receipts.' };

export function describeResult(result: SubmitResult): { ok: boolean; detail: string } {
  switch (result.outcome) {
    case 'accepted':
      return {
        ok: true,
        detail: `The carrier accepted the text as ${result.carrierMessageId || 'a text without an id'}.`,
      };
    case 'throttled':
      return { ok: false, detail: 'The carrier is throttled: it wants fewer texts. Try again shortly.' };
    case 'in_doubt':
      return { ok: false, detail: 'The carrier did not answer. The text may still arrive.' };
    case 'not_sent':
      return { ok: false, detail: 'The text was not sent: the carrier is not bound, or busy.' };
    case 'retry':
    case 'never':
      return { ok: false, detail: `The carrier refused the text: ${result.error}.` };
  }
}

function describeReceipt(receipt: Receipt | undefined): { ok: boolean; detail: string } {
  if (receipt === undefined) return { ok: false, detail: noReceipt };
  const { outcome, carrierMessageId } = receipt;
  return { ok: outcome === 'delivered', detail: `The receipt of ${carrierMessageId} says: ${outcome}.` };
}
