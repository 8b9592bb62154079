// Tests: test/providers/faults.test.ts
import type { SendingChannel } from '../../messages/channel.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Carrier, CodeWay } from '../carrier/carrier.ts';
import { type ClaimedTest, type TestStep, testReceiptWithinMs } from '../carrier/test-store.ts';
import {
  describeReceipt,
  describeResult,
  type FoundReceipt,
  noReceipts,
  type StepReport,
  sendTestText,
} from '../carrier/test-text.ts';

/** Takes the receipt of a text of an operator's test, once a web node has written it. */
export type FindReceipt = (account: string, carrierMessageId: string) => Promise<FoundReceipt | undefined>;

export interface HttpTestOptions {
  test: ClaimedTest;
  account: string;
  hasReceipts: boolean;
  /** How the test's code goes; undefined if the carrier sends texts. */
  way: CodeWay | undefined;
  clock: Clock;
  connect: () => Promise<TestStep[]>;
  submit: Carrier['submit'];
  findReceipt: FindReceipt;
  onStep: (step: TestStep) => Promise<void>;
}

const lookEveryMs = 250;

/** By another channel than `sms` a test sends a made-up code: templates have no room for other words. */
export function testWay(channels: readonly SendingChannel[] | undefined): CodeWay | undefined {
  const [channel] = channels ?? [];
  if (channel === undefined || channels?.includes('sms')) return undefined;
  return { channel, code: '123456', language: 'en' };
}

/** Tests a carrier step by step: its name, a connection, TLS, one text in a request, its receipt by a callback. */
export async function testHttpCarrier(options: HttpTestOptions): Promise<void> {
  const { clock, connect, onStep } = options;
  for (const step of await connect()) {
    await onStep(step);
    if (!step.ok) return;
  }
  const beganMs = clock.steadyMs();
  const result = await sendTestText(options);
  await onStep({ step: 'text', ...describeResult(result), tookMs: clock.steadyMs() - beganMs });
  if (result.outcome !== 'accepted') return;
  const sentMs = clock.steadyMs();
  const report = await waitForReceipt(options, result.carrierMessageId);
  await onStep({ step: 'receipt', ...report, tookMs: clock.steadyMs() - sentMs });
}

async function waitForReceipt(
  { account, hasReceipts, clock, findReceipt }: HttpTestOptions,
  carrierMessageId: string,
): Promise<StepReport> {
  if (!hasReceipts) return noReceipts;
  const untilMs = clock.steadyMs() + testReceiptWithinMs;
  for (;;) {
    const found = await findReceipt(account, carrierMessageId).catch(() => undefined);
    if (found !== undefined) return describeReceipt({ carrierMessageId, ...found });
    if (clock.steadyMs() >= untilMs) return { ok: false, detail: noReceipt };
    await new Promise((done) => setTimeout(done, lookEveryMs));
  }
}

const noReceipt =
  'No receipt came within 120 s. Check that the provider can reach HELIOGRAPH_PUBLIC_URL from the internet, ' +
  'and that the secret of its signatures is right: callbacks with a wrong proof are refused.';
