import type { ReceiptOutcome } from '../../messages/message.ts';
import { type Clock, minuteMs } from '../../platform/clock.ts';
import type { Carrier, CodeWay, Receipt, SubmitResult } from './carrier.ts';
import { shownCarrierId } from './id.ts';
import type { ClaimedTest } from './test-store.ts';
import { readCarrierWords } from './words.ts';

const validMs = 5 * minuteMs;

/** The result of a step of a test, for an operator. */
export interface StepReport {
  ok: boolean;
  detail: string;
}

/** The receipt of an operator's test. */
export interface FoundReceipt {
  outcome: ReceiptOutcome;
  reported: string | null;
}

interface TestText {
  test: ClaimedTest;
  clock: Clock;
  submit: Carrier['submit'];
  way?: CodeWay | undefined;
  /** Gets the answer at once: the receipt may be in the same packet. */
  onAnswer?: (result: SubmitResult) => void;
}

/** Sends the text of an operator's test by the carrier that is tested. */
export async function sendTestText({ test, clock, submit, way, onAnswer }: TestText): Promise<SubmitResult> {
  let result: SubmitResult = { outcome: 'not_sent' };
  const { id: messageId, to, from, message: text } = test;
  const outgoing = {
    messageId,
    attempt: 1,
    applicationId: '',
    // In the lane of codes, because an operator waits for it.
    lane: 'first',
    isCode: true,
    to,
    from,
    text,
    way,
    templateId: null,
    expiresAtMs: clock.nowMs() + validMs,
    parts: [],
    form: null,
  } as const;
  await submit([outgoing], (_, given) => {
    result = given;
    onAnswer?.(given);
  });
  return result;
}

export const noReceipts: StepReport = { ok: true, detail: 'The settings of this carrier turn receipts off.' };

export function describeReceipt(receipt: Pick<Receipt, 'carrierMessageId' | 'outcome' | 'reported'>): StepReport {
  const { outcome } = receipt;
  const id = shownCarrierId(receipt.carrierMessageId) ?? 'a text without an id';
  return { ok: outcome === 'delivered', detail: `Receipt of ${id}: ${outcome}${inWords(receipt.reported)}.` };
}

/** The carrier's own words in brackets: `errors` and `submit_errors` give them a meaning. */
function inWords(reported: string | null | undefined): string {
  const words = readCarrierWords(reported);
  return words === null ? '' : ` (${words})`;
}

export function describeResult(result: SubmitResult): StepReport {
  const said = inWords(result.reported);
  switch (result.outcome) {
    case 'accepted':
      return {
        ok: true,
        detail: `Accepted by carrier as ${shownCarrierId(result.carrierMessageId) ?? 'a text without an id'}.`,
      };
    case 'throttled':
      return { ok: false, detail: `The carrier asked for fewer texts${said}. Try again shortly.` };
    case 'in_doubt':
      return { ok: false, detail: `${noAnswer(said)}. The text may still arrive.` };
    case 'not_sent':
      return { ok: false, detail: 'The text was not sent: the carrier is not bound, or busy.' };
    case 'retry':
    case 'never':
      return { ok: false, detail: `The carrier refused the text: ${result.error}${said}.` };
  }
}

function noAnswer(said: string): string {
  return said === '' ? 'The carrier did not answer' : `The carrier gave no answer that can be used${said}`;
}
