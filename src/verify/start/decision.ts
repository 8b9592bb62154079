// Tests: test/model/verifications, test/contract/verification-model.test.ts
import type { RequestTrace } from '../../http/route.ts';
import type { GuardHold } from '../../http/sending-rights.ts';
import { type Channel, noCarrier, type SendingChannel, unroutable } from '../../messages/channel.ts';
import type { Message } from '../../messages/message.ts';
import { newMessage } from '../../messages/new-message.ts';
import { countryOf, typeOf } from '../../messages/numbers/phone-number.ts';
import { type TestNumber, testNumberOf } from '../../messages/numbers/test-numbers.ts';
import type { RouteText } from '../../messages/text/text-route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { isSamePayment, readPaymentCell, toPaymentCell } from '../assurance/payment.ts';
import { afterResend, toPrecheckCell } from '../assurance/precheck.ts';
import type { CodeSender } from '../code-sender.ts';
import type { DueStep, FallbackStep, SkipReason } from '../fallback/plan.ts';
import { givenHash, isSameCode, type SupersededCode, sealCode } from '../given/code.ts';
import type { Guard, GuardFacts } from '../guard.ts';
import { findHeld } from '../held-number.ts';
import type { RiskAnswer } from '../risk/risk.ts';
import { type PreparedText, prepareText, toMinutes, withMinutes } from '../texts/prepared-text.ts';
import {
  type BlockReason,
  type Continuation,
  continuation,
  givenResendMs,
  mostAttempts,
  triesFor,
  type Verification,
} from '../verification.ts';
import type { StartCounts } from './counts.ts';

/** A validated request to start. Plain values of bounded size, because it shares a batch with other callers' starts. */
export interface StartRequest {
  applicationId: string;
  to: string;
  channel: Channel;
  /** For a start by `inbound`, which sends nothing: the number to text and a name, as stored. Null for others. */
  inbound?: string | null;
  /** The name of the application, for the text that a person sends. */
  app: string;
  /** False if an operator must allow the channel to the country of the number first. */
  mayUseChannel: boolean;
  reference: string | null;
  codeLength: number;
  /** A code that the caller made; undefined for one of ours. */
  code?: string | undefined;
  /** The payment that the code confirms, as a cell. */
  payment: string | null;
  /** The assurance profile of the application; null for the standard. */
  profile: string | null;
  /** What the risk check said; undefined where it was not asked. */
  risk?: RiskAnswer | undefined;
  /** Why the guard refused before the risk check, which was then not asked. */
  guarded?: BlockReason | undefined;
  ttlSeconds: number;
  text: PreparedText;
  /** The sender of its text. */
  sender: CodeSender;
  correlationId: string;
  trace?: RequestTrace | undefined;
  /** Null for no limit. */
  segmentsPerDay: number | null;
  /** The fallback steps while the code is not entered; undefined for none. */
  fallback?: readonly FallbackStep[] | undefined;
  /** Set if this is a fallback step of an earlier start, and not a call of the API. */
  step?: DueStep | undefined;
  /** Groups of the application that are held back; nearly always none. */
  holds: readonly GuardHold[];
  /** The groups of its client, as keyed hashes; empty in the sandbox. */
  clients: readonly string[];
}

/** The outcome of a start: the rows to write, and the verification to return. */
export interface StartDecision {
  verification: Verification;
  superseded: Verification | undefined;
  message: Message | undefined;
  /** The groups of the request's client. */
  clients: readonly string[];
  /** The caller's code for a new row; null where there is none. */
  sealedCode: string | null;
  /** Why a step sends nothing. */
  skipped?: SkipReason;
}

export interface StartDecisionOptions {
  clock: Clock;
  keys: Pick<KeyRing, 'version' | 'versions' | 'keyFor'>;
  guard: Guard;
  environment: 'sandbox' | 'production';
  resendSeconds: number;
  routeText: RouteText;
}

/** What is known about a number when its start is decided. */
export interface CountedStart extends StartCounts {
  /** Whether it was approved recently; only read for a number that is held back. */
  wasApproved?: boolean;
}

/** The pending verification of a number. */
export interface PendingStart {
  verification: Verification;
  /** The carriers that had its texts. */
  used: readonly string[];
  /** The channels by which the code was sent; only read for a start by another channel than the newest. */
  channels: readonly Channel[];
  /** Callers' codes of the number that were superseded recently; only read for a start with another code. */
  superseded: readonly SupersededCode[];
}

/**
 * Decides a start from the rows that the surrounding transaction holds. Pure except for ids, the clock and the state of
 * the carriers. An error refuses this start alone, and none of its rows are kept.
 */
export function decideStart(
  options: StartDecisionOptions,
  request: StartRequest,
  open: PendingStart | undefined,
  counts: CountedStart | undefined,
): StartDecision | ApiError {
  const nowMs = options.clock.nowMs();
  if (open === undefined) return startNew(options, request, undefined, counts);
  const { verification: pending } = open;
  // This request created it: the batch ran twice because the answer to the first commit was lost.
  if (pending.correlationId === request.correlationId) return unchanged(request, pending);
  switch (continuationOf(options.keys, open, request, nowMs)) {
    case 'supersede': {
      const over = { ...pending, status: 'canceled', reason: 'superseded', updatedAtMs: nowMs } as const;
      return startNew(options, request, over, counts);
    }
    case 'leave':
      return unchanged(request, pending);
    case 'send_again': {
      const refusal = furtherRefusal(options, request, pending, counts) ?? earlierRefusal(request);
      if (refusal !== null) return startNew(options, request, undefined, counts, refusal);
      return sendAgain(options, request, open);
    }
  }
}

/** Sends the code of a pending verification once more. */
export function sendAgain(
  options: StartDecisionOptions,
  request: StartRequest,
  { verification: pending, used }: PendingStart,
): StartDecision | ApiError {
  const verification = {
    ...pending,
    channel: request.channel,
    sends: pending.sends + 1,
    resendAvailableAtMs: resendAt(options, pending),
    precheck: afterResend(pending.precheck, precheckOf(request)),
    updatedAtMs: options.clock.nowMs(),
  };
  return withText(options, request, { verification, superseded: undefined, used, sealedCode: null });
}

/** A decision that sends no text: it leaves a verification as it is, or adds a blocked one. */
function unchanged({ clients }: StartRequest, verification: Verification): StartDecision {
  return { verification, superseded: undefined, message: undefined, clients, sealedCode: null };
}

/**
 * What a start does to the pending verification. A code that was recently superseded is a late repeat of an earlier call:
 * the newer code stays.
 */
export function continuationOf(
  keys: StartDecisionOptions['keys'],
  { verification, superseded, channels }: Pick<PendingStart, 'verification' | 'superseded' | 'channels'>,
  request: Pick<StartRequest, 'code' | 'codeLength' | 'channel' | 'payment'>,
  nowMs: number,
): Continuation {
  const isNewWay = verification.channel !== request.channel && !channels.includes(request.channel);
  const isInbound = verification.inbound !== null;
  const asksInbound = request.channel === 'inbound';
  if (isInbound && asksInbound) return 'leave';
  // A code and a text from the person supersede each other, because a proof says which of them it was.
  const isSame =
    !isInbound &&
    !asksInbound &&
    isSameCode(keys, verification, request) &&
    isSamePayment(verification.payment, request.payment);
  const found = continuation(verification, { isSameCode: isSame, isNewWay }, nowMs);
  const { code } = request;
  if (found !== 'supersede' || code === undefined) return found;
  return superseded.some((each) => each.codeHash === givenHash(keys, each, code)) ? 'leave' : found;
}

/** A start that sends no text and changes no row, because the application's segments of the day do not suffice. */
export function blockForSpend(options: StartDecisionOptions, request: StartRequest): StartDecision | ApiError {
  return startNew(options, request, undefined, undefined, 'spend_limit');
}

function startNew(
  options: StartDecisionOptions,
  request: StartRequest,
  superseded: Verification | undefined,
  counts: CountedStart | undefined,
  reason: BlockReason | null = null,
): StartDecision | ApiError {
  const nowMs = options.clock.nowMs();
  const test = options.environment === 'sandbox' ? testNumberOf(request.to) : undefined;
  const failuresToday = test === undefined ? (counts?.failuresToday ?? 0) : 0;
  const leftOfSuperseded = superseded === undefined ? mostAttempts : superseded.maxAttempts - superseded.attempts;
  const blocked = reason ?? refusalOf(options, request, test, counts) ?? earlierRefusal(request);
  const inbound = request.inbound ?? null;
  const ttlMs = test?.kind === 'expires_early' ? test.afterMs : request.ttlSeconds * 1000;
  const owner = { id: newId('ver', options.clock), ringVersion: options.keys.version };
  const code = blocked === null ? request.code : undefined;
  const codeHash = code === undefined ? null : givenHash(options.keys, owner, code);
  const verification: Verification = {
    id: owner.id,
    applicationId: request.applicationId,
    channel: request.channel,
    to: request.to,
    status: blocked === null ? 'pending' : 'blocked',
    reason: blocked,
    codeLength: request.codeLength,
    ringVersion: owner.ringVersion,
    codeHash,
    payment: request.payment,
    precheck: precheckOf(request),
    inbound,
    testNumber: test !== undefined,
    attempts: 0,
    maxAttempts: blocked === null ? triesFor(failuresToday, leftOfSuperseded) : 0,
    sends: blocked === null && inbound === null ? 1 : 0,
    reference: request.reference,
    correlationId: request.correlationId,
    textIds: [],
    resendAvailableAtMs:
      blocked === null && inbound === null ? resendAt(options, { testNumber: test !== undefined, codeHash }) : null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs: nowMs + ttlMs,
    approvedAtMs: null,
    outcome: null,
  };
  // A blocked start changes nothing: the pending verification continues.
  if (blocked !== null) return unchanged(request, verification);
  if (inbound !== null)
    return { verification, superseded, message: undefined, clients: request.clients, sealedCode: null };
  const sealedCode = code === undefined ? null : sealCode(options.keys, owner, code);
  return withText(options, request, { verification, superseded, used: [], sealedCode });
}

/**
 * A refusal that was found before the transaction. One by the guard stands even if its limit has ended since, because the
 * risk check was not asked.
 */
export function earlierRefusal({ risk, guarded }: StartRequest): BlockReason | null {
  return risk?.decision === 'block' ? 'risk' : (guarded ?? null);
}

const precheckOf = ({ profile, risk }: StartRequest) => toPrecheckCell({ profile, risk: risk ?? null });

function refusalOf(
  { guard, keys, clock }: StartDecisionOptions,
  { to, holds, clients, mayUseChannel }: StartRequest,
  test: TestNumber | undefined,
  counts: CountedStart | undefined,
): BlockReason | null {
  if (!mayUseChannel) return 'channel_not_allowed';
  if (test === undefined)
    return guard.refusal(guardFactsOf(to, counts, () => findHeld(keys, holds, { to, clients }, clock.nowMs())));
  return test.kind === 'blocked' ? 'block_list' : null;
}

/** Whether the guard counts a further send like a start. Only an SMS after an SMS does not count: calls cost much more. */
export function isCountedSend(pending: Pick<Verification, 'channel'>, channel: Channel): boolean {
  return channel !== 'sms' || pending.channel !== 'sms';
}

/** Why the guard refuses to send a code once more by this channel. */
export function furtherRefusal(
  options: StartDecisionOptions,
  request: StartRequest,
  pending: Verification,
  counts: CountedStart | undefined,
): BlockReason | null {
  if (!isCountedSend(pending, request.channel)) return null;
  const test = options.environment === 'sandbox' ? testNumberOf(request.to) : undefined;
  return refusalOf(options, request, test, counts);
}

export function guardFactsOf(
  to: string,
  counts: Omit<CountedStart, 'applicationId' | 'to'> | undefined,
  held: GuardFacts['held'],
): GuardFacts {
  return {
    to,
    held,
    wasApproved: counts?.wasApproved === true,
    country: () => countryOf(to),
    numberType: () => typeOf(to),
    startsForNumber: counts?.startsForNumber ?? 0,
    startsForPrefix: counts?.startsForPrefix ?? 0,
    failuresToday: counts?.failuresToday ?? 0,
  };
}

function resendAt(
  { clock, resendSeconds }: StartDecisionOptions,
  { codeHash, testNumber }: Pick<Verification, 'codeHash' | 'testNumber'>,
): number {
  const waitMs = codeHash !== null ? givenResendMs : testNumber ? 0 : resendSeconds * 1000;
  return clock.nowMs() + waitMs;
}

function withText(
  options: StartDecisionOptions,
  request: StartRequest,
  given: Pick<StartDecision, 'verification' | 'superseded' | 'sealedCode'> & Pick<PendingStart, 'used'>,
): StartDecision | ApiError {
  const { verification, superseded, used, sealedCode } = given;
  const message = newText(options, request, verification, used);
  if (message instanceof ApiError) return message;
  const withId = { ...verification, textIds: [...verification.textIds, message.id] };
  return { verification: withId, superseded, message, clients: request.clients, sealedCode };
}

/** The text's row. It holds the template, never the code, which is derived or unsealed when the text is sent. */
function newText(
  options: StartDecisionOptions,
  request: StartRequest,
  verification: Verification,
  used: readonly string[],
): Message | ApiError {
  const nowMs = options.clock.nowMs();
  const text = withMinutes(
    withPayment(request.text, verification.payment),
    toMinutes(verification.expiresAtMs - nowMs),
  );
  const { applicationId, to, sender } = request;
  const id = newId('msg', options.clock);
  const { from, holdsSender, senderCarriers } = sender;
  const found = options.routeText({
    messageId: id,
    applicationId,
    api: 'verify',
    channel: sendingChannel(request.channel),
    to,
    from,
    urgent: true,
    senderCarriers,
    holdsSender,
    used,
    sendAtMs: nowMs,
  });
  if (found === 'no_carrier') return noCarrier();
  if (found === 'unroutable') return unroutable();
  return newMessage({
    id,
    applicationId,
    api: 'verify',
    channel: request.channel,
    to,
    sender: from,
    lane: 'first',
    nowMs,
    correlationId: request.correlationId,
    trace: request.trace?.kept,
    // A text that arrives after its code has expired would only confuse.
    expiresAtMs: verification.expiresAtMs,
    segments: text.segments,
    route: found,
    body: null,
    verification: { id: verification.id, template: { ...text.template, ...codeKeyOf(verification) } },
  });
}

/** Use the amount as the first start wrote it, because the code is bound to that spelling. */
function withPayment(text: PreparedText, cell: string | null): PreparedText {
  const { template } = text;
  if (cell === null || template.payment === undefined || toPaymentCell(template.payment) === cell) return text;
  return prepareText({ ...template, payment: readPaymentCell(cell) });
}

/** Starts by `inbound` never get here: they send no text. */
function sendingChannel(channel: Channel): SendingChannel {
  if (channel === 'inbound') throw new Error('nothing is sent by inbound');
  return channel;
}

/** Names the key of a caller's code differently: a node of an earlier version then cannot render it with a code of ours. */
function codeKeyOf({ codeHash, ringVersion }: Verification): { ringVersion: number } | { sealedUnder: number } {
  return codeHash === null ? { ringVersion } : { sealedUnder: ringVersion };
}
