import type { ReceiptOutcome } from '../../messages/message.ts';
import { type Clock, minuteMs } from '../../platform/clock.ts';
import type { Carrier, SubmitResult } from '../carrier.ts';
import { type ClaimedTest, type TestStep, testReceiptWithinMs } from '../carrier-test-store.ts';
import { describeResult } from '../smpp/text-test.ts';

/** Takes the receipt of a text of an operator's test, once a web node has written it. */
export type FindReceipt = (account: string, carrierMessageId: string) => Promise<ReceiptOutcome | undefined>;

export interface HttpTestOptions {
  test: ClaimedTest;
  account: string;
  hasReceipts: boolean;
  clock: Clock;
  connect: () => Promise<TestStep[]>;
  submit: Carrier['submit'];
  findReceipt: FindReceipt;
  onStep: (step: TestStep) => Promise<void>;
}

const validMs = 5 * minuteMs;
const lookEveryMs = 250;

/** Tests a carrier step by step: its name, a connection, TLS, one text in a request, its receipt by a callback. */
export async function testHttpCarrier(options: HttpTestOptions): Promise<void> {
  const { clock, connect, onStep } = options;
  for (const step of await connect()) {
    await onStep(step);
    if (!step.ok) return;
  }
  const beganMs = clock.steadyMs();
  const result = await sendOne(options);
  await onStep({ step: 'text', ...describeResult(result), tookMs: clock.steadyMs() - beganMs });
  if (result.outcome !== 'accepted') return;
  const sentMs = clock.steadyMs();
  const told = await waitForReceipt(options, result.carrierMessageId);
  await onStep({ step: 'receipt', ...told, tookMs: clock.steadyMs() - sentMs });
}

async function sendOne({ test, clock, submit }: HttpTestOptions): Promise<SubmitResult> {
  let result: SubmitResult = { outcome: 'not_sent' };
  const { id: messageId, to, from, message: text } = test;
  const expiresAtMs = clock.nowMs() + validMs;
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
        expiresAtMs,
        templateId: null,
        parts: [],
        form: null,
      },
    ],
    (_, given) => {
      result = given;
    },
  );
  return result;
}

async function waitForReceipt(
  { account, hasReceipts, clock, findReceipt }: HttpTestOptions,
  carrierMessageId: string,
): Promise<{ ok: boolean; detail: string }> {
  if (!hasReceipts) return { ok: true, detail: 'The settings say that this carrier gives no receipts.' };
  const untilMs = clock.steadyMs() + testReceiptWithinMs;
  for (;;) {
    const outcome = await findReceipt(account, carrierMessageId).catch(() => undefined);
    if (outcome !== undefined)
      return { ok: outcome === 'delivered', detail: `The receipt of ${carrierMessageId} says: ${outcome}.` };
    if (clock.steadyMs() >= untilMs) return { ok: false, detail: noReceipt };
    await new Promise((done) => setTimeout(done, lookEveryMs));
  }
}

const noReceipt =
  'No receipt came within 120 s. Check that the provider can reach HELIOGRAPH_PUBLIC_URL from the internet, ' +
  'and that the secret of its signatures is right: callbacks with a wrong proof are refused.';
