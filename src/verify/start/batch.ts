// Tests: test/races/verifications.test.ts, test/races/verification-guard.test.ts
import { cancelTexts, findCarriersOf, type VerificationText } from '../../messages/message-store.ts';
import { prefixOf } from '../../messages/numbers/number-prefix.ts';
import { holdSpend } from '../../messages/spend.ts';
import { findSentTexts, type SentText } from '../../messages/text/sent-texts.ts';
import { type Batch, createBatch } from '../../platform/database/batch.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { insertAnswers } from '../../platform/database/idempotency.ts';
import { ApiError } from '../../platform/errors.ts';
import { findApproved } from '../approved-numbers.ts';
import { decideStep, lockDueSteps, skipStep, writePlans } from '../fallback/steps.ts';
import { isSameCode } from '../given/code.ts';
import type { Guard } from '../guard.ts';
import { findHeld } from '../held-number.ts';
import { insertAwaited } from '../inbound/refused-texts.ts';
import { inboundOf } from '../inbound/request-text.ts';
import * as pendingStore from '../pending-store.ts';
import { findAllTexts } from '../texts/all-texts.ts';
import { findNewestTexts } from '../texts/newest-texts.ts';
import type { Verification } from '../verification.ts';
import { type TextState, toVerificationRecord } from '../verification-record.ts';
import { expireLapsed } from '../verification-store.ts';
import { insertCountedSends } from './counted-sends.ts';
import { type CountedDestination, countStarts } from './counts.ts';
import {
  blockForSpend,
  type CountedStart,
  decideStart,
  isCountedSend,
  type PendingStart,
  type StartDecision,
  type StartDecisionOptions,
  type StartRequest,
} from './decision.ts';
import type { StartAnswer, StartItem } from './item.ts';
import { type StartRounds, startInRounds } from './rounds.ts';
import { insertStarts, startFree as startFreeNumbers } from './store.ts';

/** Each start of a transaction may lock a prefix or number, and Postgres has room for a few thousand locks in total. */
const mostLocks = 200;

const nameOf = ({ applicationId, to }: pendingStore.Destination) => `${applicationId} ${to}`;

const prefixNameOf = ({ applicationId, to }: pendingStore.Destination) => `${applicationId} ${prefixOf(to)}`;

export interface StartBatchOptions extends StartDecisionOptions {
  /** The guard as it is now, if it can change; `guard` is what it began with. */
  currentGuard?: () => Guard | Promise<Guard>;
  /** True while a text may have several carriers: then a resend needs those that had the code before. */
  hasChoice: () => boolean;
}

/** One round of starts under one guard. */
function createStartRounds(database: Database, options: StartBatchOptions): StartRounds {
  const { clock, guard } = options;

  async function count(tx: Tx, items: StartItem[]): Promise<Map<string, CountedStart>> {
    const nowMs = clock.nowMs();
    const counts = await countStarts(tx, destinationsOf(items), guard.countLimits, nowMs);
    const held = items.map(({ request }) => request).filter((request) => isHeld(request, nowMs));
    const approved = new Set(held.length === 0 ? [] : (await findApproved(tx, held, nowMs)).map(nameOf));
    return new Map(counts.map((row) => [nameOf(row), { ...row, wasApproved: approved.has(nameOf(row)) }]));
  }

  const isHeld = ({ holds, to, clients }: StartRequest, nowMs: number) =>
    findHeld(options.keys, holds, { to, clients }, nowMs) !== undefined;

  /** Decides in order: each admitted start of this batch counts for the next. */
  function decide(
    items: StartItem[],
    pending: Map<string, PendingStart>,
    counts: Map<string, CountedStart>,
    steps: ReadonlySet<string> = new Set(),
  ): (StartDecision | ApiError)[] {
    const startedHere = new Map<string, number>();
    return items.map(({ request }) => {
      const name = nameOf(request);
      const prefix = prefixNameOf(request);
      const open = pending.get(name);
      const neighbours = startedHere.get(prefix) ?? 0;
      const counted = counts.get(name);
      const seen = counted && { ...counted, startsForPrefix: counted.startsForPrefix + neighbours };
      const decision =
        request.step === undefined
          ? decideStart(options, request, open, seen)
          : decideStep(options, request, open, steps, seen);
      if (decision instanceof ApiError) return decision;
      const { id, status } = decision.verification;
      const isNew = id !== open?.verification.id && status === 'pending';
      if (isNew || isCountedAgain(decision, open)) startedHere.set(prefix, neighbours + 1);
      return decision;
    });
  }

  /**
   * Starts verifications of free numbers by one statement. Numbers with a pending verification or wrong codes of the
   * day, blocked ones and ones without a route are left to a transaction that locks their rows.
   */
  async function startFree(items: StartItem[]): Promise<(StartAnswer | ApiError)[]> {
    const decided = decide(items, new Map(), new Map());
    const open = decided.filter(isDecided).filter(({ message }) => message !== undefined);
    const started =
      open.length === 0
        ? new Set<string>()
        : await startFreeNumbers(
            database,
            open,
            open.flatMap(({ message }) => message ?? []),
            clock.nowMs(),
          );
    const isStarted = (decision: StartDecision | ApiError): decision is StartDecision =>
      isDecided(decision) && started.has(decision.verification.id);
    const left = items.filter((_, index) => !isStarted(decided[index] as StartDecision | ApiError));
    const held = left.length === 0 ? [] : await startHolding(left);
    return decided.map((each, index) =>
      isStarted(each) ? toAnswer(each, undefined, items[index]) : (held.shift() as StartAnswer | ApiError),
    );
  }

  async function startHolding(items: StartItem[]): Promise<(StartAnswer | ApiError)[]> {
    const answers: (StartAnswer | ApiError)[] = [];
    for (let at = 0; at < items.length; at += mostLocks)
      answers.push(...(await startSomeHolding(items.slice(at, at + mostLocks))));
    return answers;
  }

  /** Adds to the answer what the person has to text. */
  function withText(answer: StartAnswer | ApiError): StartAnswer | ApiError {
    if (answer instanceof ApiError || answer.verification.status !== 'pending') return answer;
    const inbound = inboundOf(options.keys, answer.verification);
    return inbound === undefined ? answer : { ...answer, record: { ...answer.record, inbound } };
  }

  /** Locks the prefixes or numbers, and pending rows, until the outcome is written. */
  const startSomeHolding = (items: StartItem[]) =>
    database.transaction(async (tx) => {
      const nowMs = clock.nowMs();
      const requests = items.map(({ request }) => request);
      // Without the lock, two starts for a number could both count the same wrong codes, and grant tries for them twice.
      await pendingStore.lockNames(tx, requests.map(guard.countsStarts ? prefixNameOf : nameOf));
      const pending = await withUsed(tx, await lockPending(tx, requests, nowMs));
      await readChannels(tx, requests, pending);
      await readSuperseded(tx, requests, pending, nowMs);
      const steps = await lockDueSteps(tx, requests);
      const decided = decide(items, pending, await count(tx, items), steps);
      const decisions = await withinSpend(tx, items, decided, pending, nowMs);
      await write(tx, decisions.filter(isDecided), pending, nowMs);
      const isPending = ({ verification }: StartDecision) =>
        pending.get(nameOf(verification))?.verification.id === verification.id;
      await writePlans(tx, requests, decisions, isPending, nowMs);
      const answers = (await answersTo(tx, decisions, items)).map(withText);
      const kept = items.flatMap(({ keep }, index) => {
        const answer = answers[index];
        return answer === undefined || answer instanceof ApiError ? [] : (keep(answer) ?? []);
      });
      await insertAnswers(tx, kept, nowMs);
      return answers;
    });

  /** Adds the carriers that had the code before. */
  async function withUsed(tx: Tx, pending: Map<string, Verification>): Promise<Map<string, PendingStart>> {
    const all = [...pending];
    const ids = options.hasChoice() ? all.flatMap(([, { textIds }]) => textIds) : [];
    const carriers = await findCarriersOf(tx, ids);
    return new Map(
      all.map(([name, verification]) => {
        const used = new Set(verification.textIds.flatMap((id) => carriers.get(id) ?? []));
        return [name, { verification, used: [...used], superseded: [], channels: [] }];
      }),
    );
  }

  /** Reads the channels that had the code, only for starts by another channel than the newest send. */
  async function readChannels(tx: Tx, requests: StartRequest[], pending: Map<string, PendingStart>): Promise<void> {
    const others = requests.flatMap((request) => {
      const open = pending.get(nameOf(request));
      return open === undefined || open.verification.channel === request.channel ? [] : [open];
    });
    if (others.length === 0) return;
    const texts = await findSentTexts(
      tx,
      others.flatMap(({ verification }) => verification.textIds),
    );
    for (const open of others) {
      const channels = open.verification.textIds.flatMap((id) => texts.get(id)?.channel ?? []);
      pending.set(nameOf(open.verification), { ...open, channels });
    }
  }

  /** Reads superseded codes only for starts with another code than the pending one: only these can be late repeats. */
  async function readSuperseded(
    tx: Tx,
    requests: StartRequest[],
    pending: Map<string, PendingStart>,
    nowMs: number,
  ): Promise<void> {
    const repeats = requests.filter((request) => {
      const open = pending.get(nameOf(request));
      return request.code !== undefined && open !== undefined && !isSameCode(options.keys, open.verification, request);
    });
    if (repeats.length === 0) return;
    for (const found of await pendingStore.findSuperseded(tx, repeats, nowMs)) {
      const open = pending.get(nameOf(found));
      if (open !== undefined) pending.set(nameOf(found), { ...open, superseded: [...open.superseded, found] });
    }
  }

  /** Blocks the starts whose text exceeds the application's daily limit of segments. */
  async function withinSpend(
    tx: Tx,
    items: StartItem[],
    decisions: (StartDecision | ApiError)[],
    pending: Map<string, PendingStart>,
    nowMs: number,
  ): Promise<(StartDecision | ApiError)[]> {
    const requests = items.map(({ request }) => request);
    if (requests.every(isUnlimited)) return decisions;
    const spend = await holdSpend(tx, requests, nowMs);
    const within = decisions.map((decision, index) => {
      const request = requests[index];
      if (request === undefined || isUnlimited(request)) return decision;
      const message = isDecided(decision) ? decision.message : undefined;
      if (message !== undefined)
        return spend.take(request, message.segmentCount) ? decision : overSpend(request, pending.get(nameOf(request)));
      // A used-up limit is the reason even where the guard refuses too, or a route is missing.
      const isRefused = !isDecided(decision) || decision.verification.status === 'blocked';
      return isRefused && request.step === undefined && spend.isUsedUp(request)
        ? blockForSpend(options, request)
        : decision;
    });
    await spend.write();
    return within;
  }

  function overSpend(request: StartRequest, open: PendingStart | undefined): StartDecision | ApiError {
    const isStep = request.step !== undefined && open !== undefined;
    return isStep ? skipStep(open.verification, 'spend_limit') : blockForSpend(options, request);
  }

  async function write(
    tx: Tx,
    decisions: StartDecision[],
    pending: Map<string, PendingStart>,
    nowMs: number,
  ): Promise<void> {
    const superseded = decisions.flatMap((each) => each.superseded ?? []);
    // Superseded rows must free their numbers before the new rows take them.
    await pendingStore.endSuperseded(tx, superseded, nowMs);
    await cancelTexts(
      tx,
      superseded.flatMap(({ textIds }) => textIds),
      nowMs,
    );
    const continues = ({ verification }: StartDecision) =>
      pending.get(nameOf(verification))?.verification.id === verification.id;
    const sentAgain = decisions.filter((each) => continues(each) && each.message !== undefined);
    await pendingStore.putResends(
      tx,
      sentAgain.map(({ verification }) => verification),
    );
    const counted = sentAgain.filter((each) => isCountedAgain(each, pending.get(nameOf(each.verification))));
    if (guard.countsStarts) await insertCountedSends(tx, counted, guard.countsPrefixes);
    const started = decisions.filter((each) => !continues(each));
    const messages = decisions.flatMap(({ message }) => message ?? []);
    if (started.length + messages.length > 0) await insertStarts(tx, started, messages, guard.countsPrefixes);
    const byText = started.filter(({ verification: { inbound, status } }) => inbound !== null && status === 'pending');
    if (byText.length > 0)
      await insertAwaited(
        tx,
        options.keys,
        byText.map(({ verification }) => verification),
      );
  }

  return {
    start: (items) =>
      guard.countsStarts || items.some(({ key, request }) => key !== undefined || !isPlain(request))
        ? startHolding(items)
        : startFree(items),
    keep: (answers) => insertAnswers(database, answers, clock.nowMs()),
    nowMs: clock.nowMs,
    keys: options.keys,
  };
}

/**
 * Commits verifications together with their texts. If two nodes start for one number, a unique key refuses one of them.
 */
export function createStartBatch(
  database: Database,
  options: StartBatchOptions,
): Batch<StartItem, StartAnswer | ApiError> {
  const { clock, currentGuard } = options;
  let { guard } = options;
  let rounds = createStartRounds(database, options);

  /** All statements of a batch use the same guard. */
  function roundsUnder(current: Guard): StartRounds {
    if (current === guard) return rounds;
    guard = current;
    rounds = createStartRounds(database, { ...options, guard });
    return rounds;
  }

  async function run(items: StartItem[]): Promise<(StartAnswer | ApiError)[]> {
    const current = currentGuard?.() ?? guard;
    return startInRounds(items, roundsUnder(current instanceof Promise ? await current : current));
  }

  return createBatch({
    database,
    clock,
    repeatable: true,
    ...(guard.countsStarts && { limits: { perBatch: mostLocks } }),
    ownerOf: ({ request }) => request.applicationId,
    keysOf: ({ request, key }) => {
      const name = nameOf(request);
      return key === undefined ? [name] : [name, `key ${key}`];
    },
    repeats: true,
    withoutTransaction: () => true,
    run: (_tx, items) => run(items),
  });
}

/** A start that one statement can write. */
const isPlain = (request: StartRequest) =>
  isUnlimited(request) && request.fallback === undefined && request.step === undefined;

const isUnlimited = ({ segmentsPerDay }: StartRequest) => segmentsPerDay === null;

function destinationsOf(items: StartItem[]): CountedDestination[] {
  return items.map(({ request: { applicationId, to } }) => ({ applicationId, to, prefix: prefixOf(to) }));
}

/** Expires lapsed verifications, which frees their numbers, and returns the others. */
async function lockPending(
  tx: Tx,
  destinations: pendingStore.Destination[],
  nowMs: number,
): Promise<Map<string, Verification>> {
  const found = await pendingStore.lockPending(tx, destinations);
  const lapsed = found.filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
  if (lapsed.length > 0) await expireLapsed(tx, lapsed, nowMs);
  return new Map(found.filter((row) => !lapsed.includes(row)).map((row) => [nameOf(row), row]));
}

/** Whether this start sends a pending code again, in a way that the guard counts. */
function isCountedAgain({ verification, message }: StartDecision, open: PendingStart | undefined): boolean {
  if (message === undefined || verification.id !== open?.verification.id) return false;
  return isCountedSend(open.verification, message.channel);
}

function isDecided(decision: StartDecision | ApiError): decision is StartDecision {
  return !(decision instanceof ApiError);
}

async function answersTo(
  tx: Tx,
  decisions: (StartDecision | ApiError)[],
  items: StartItem[],
): Promise<(StartAnswer | ApiError)[]> {
  const unsent = decisions.filter(isDecided).filter(({ message }) => message === undefined);
  const texts = await findNewestTexts(
    tx,
    unsent.map(({ verification }) => verification),
  );
  const sent = await findAllTexts(
    tx,
    decisions.filter(isDecided).map(({ verification }) => verification),
  );
  return decisions.map((each, index) =>
    isDecided(each) ? toAnswer(each, texts[unsent.indexOf(each)], items[index], sent.get(each.verification.id)) : each,
  );
}

/** `before` is the newest text if this start wrote none. A batch that runs twice finds its own text there. */
function toAnswer(
  { verification, message }: StartDecision,
  before: VerificationText | undefined,
  item: StartItem | undefined,
  all?: readonly SentText[],
): StartAnswer {
  const sent = message !== undefined || (before !== undefined && before.correlationId === item?.request.correlationId);
  const text: TextState | undefined =
    message === undefined ? before : { messageId: message.id, status: message.status, errorCode: null };
  const carriers = message === undefined ? (sent ? undefined : []) : [message.carrier];
  return { verification, record: toVerificationRecord(verification, text, { sent, all }), carriers };
}
