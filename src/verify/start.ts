import type { Message } from '../messages/message.ts';
import { countryOf, typeOf } from '../messages/phone-number.ts';
import { testNumberOf } from '../messages/test-numbers.ts';
import type { Clock } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import type { KeyRing } from '../platform/keys.ts';
import type { Guard, Sighting } from './guard.ts';
import { type StartText, toMinutes, withMinutes } from './start-text.ts';
import { continuation, mostAttempts, prefixOf, triesFor, type Verification } from './verification.ts';
import type { Counts } from './verification-store.ts';

/** A validated request to start. Plain values of bounded size, because it shares a batch with other callers' starts. */
export interface StartRequest {
  applicationId: string;
  to: string;
  channel: string;
  reference: string | null;
  codeLength: number;
  ttlSeconds: number;
  text: StartText;
  correlationId: string;
  carrier: string;
}

/** The outcome of a start: the rows to write, and the verification to return. */
export interface Started {
  verification: Verification;
  superseded: Verification | undefined;
  message: Message | undefined;
}

export interface StartRules {
  clock: Clock;
  keys: Pick<KeyRing, 'version'>;
  guard: Guard;
  environment: 'sandbox' | 'production';
  resendSeconds: number;
}

/** Decides a start from the rows that the surrounding transaction holds. Pure except for ids and the clock. */
export function decideStart(
  rules: StartRules,
  request: StartRequest,
  pending: Verification | undefined,
  counts: Counts | undefined,
): Started {
  const nowMs = rules.clock.nowMs();
  if (pending === undefined) return startNew(rules, request, undefined, counts);
  // This request created it: the batch ran twice because the answer to the first commit was lost.
  if (pending.correlationId === request.correlationId) {
    return { verification: pending, superseded: undefined, message: undefined };
  }
  switch (continuation(pending, request, nowMs)) {
    case 'supersede': {
      const over = { ...pending, status: 'canceled', reason: 'superseded', updatedAtMs: nowMs } as const;
      return startNew(rules, request, over, counts);
    }
    case 'leave':
      return { verification: pending, superseded: undefined, message: undefined };
    case 'send_again': {
      const verification = {
        ...pending,
        sends: pending.sends + 1,
        resendAvailableAtMs: resendAt(rules, pending.testNumber),
        updatedAtMs: nowMs,
      };
      return { verification, superseded: undefined, message: newText(rules, request, verification) };
    }
  }
}

function startNew(
  rules: StartRules,
  request: StartRequest,
  superseded: Verification | undefined,
  counts: Counts | undefined,
): Started {
  const nowMs = rules.clock.nowMs();
  const test = rules.environment === 'sandbox' ? testNumberOf(request.to) : undefined;
  const failuresToday = test === undefined ? (counts?.failuresToday ?? 0) : 0;
  const leftOfSuperseded = superseded === undefined ? mostAttempts : superseded.maxAttempts - superseded.attempts;
  const blocked =
    test === undefined
      ? rules.guard.refusal(sightingOf(request.to, counts))
      : test.kind === 'blocked'
        ? 'block_list'
        : null;
  const ttlMs = test?.kind === 'expires_early' ? test.afterMs : request.ttlSeconds * 1000;
  const verification: Verification = {
    id: newId('ver', rules.clock),
    applicationId: request.applicationId,
    channel: request.channel,
    recipient: request.to,
    prefix: prefixOf(request.to),
    status: blocked === null ? 'pending' : 'blocked',
    reason: blocked,
    codeLength: request.codeLength,
    ringVersion: rules.keys.version,
    testNumber: test !== undefined,
    attempts: 0,
    maxAttempts: blocked === null ? triesFor(failuresToday, leftOfSuperseded) : 0,
    sends: blocked === null ? 1 : 0,
    reference: request.reference,
    correlationId: request.correlationId,
    resendAvailableAtMs: blocked === null ? resendAt(rules, test !== undefined) : null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs: nowMs + ttlMs,
    approvedAtMs: null,
  };
  // A blocked start changes nothing: the pending verification continues.
  if (blocked !== null) return { verification, superseded: undefined, message: undefined };
  return { verification, superseded, message: newText(rules, request, verification) };
}

export function sightingOf(
  recipient: string,
  counts: Omit<Counts, 'applicationId' | 'recipient'> | undefined,
): Sighting {
  return {
    recipient,
    country: () => countryOf(recipient),
    numberType: () => typeOf(recipient),
    startsForNumber: counts?.startsForNumber ?? 0,
    startsForPrefix: counts?.startsForPrefix ?? 0,
    failuresToday: counts?.failuresToday ?? 0,
  };
}

function resendAt(rules: StartRules, testNumber: boolean): number {
  return rules.clock.nowMs() + (testNumber ? 0 : rules.resendSeconds * 1000);
}

/** The text's row. It holds the template, never the code, which is derived when the text is sent. */
function newText(rules: StartRules, request: StartRequest, verification: Verification): Message {
  const nowMs = rules.clock.nowMs();
  const text = withMinutes(request.text, toMinutes(verification.expiresAtMs - nowMs));
  const { template, sender, encoding, segmentCount, characters, remaining } = text;
  return {
    id: newId('msg', rules.clock),
    applicationId: request.applicationId,
    api: 'verify',
    verificationId: verification.id,
    channel: request.channel,
    recipient: request.to,
    sender,
    body: null,
    template: { ...template, ringVersion: verification.ringVersion },
    status: 'queued',
    encoding,
    segmentCount,
    characters,
    remaining,
    reference: null,
    errorCode: null,
    correlationId: request.correlationId,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    sentAtMs: null,
    deliveredAtMs: null,
    // A text that arrives after its code has expired would only confuse.
    expiresAtMs: verification.expiresAtMs,
    carrier: request.carrier,
    dueAtMs: nowMs,
  };
}
