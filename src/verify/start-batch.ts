import { cancelTextsOf, findNewestTexts, insertMessages, type VerificationText } from '../messages/message-store.ts';
import { type Batch, createBatch } from '../platform/batch.ts';
import type { Database, Tx } from '../platform/database.ts';
import { type AnswerToKeep, insertAnswers } from '../platform/idempotency.ts';
import { decideStart, type StartDecision, type StartDecisionOptions, type StartRequest } from './start-decision.ts';
import * as store from './start-store.ts';
import { prefixOf, type Verification } from './verification.ts';
import { type TextState, toVerificationRecord } from './verification-record.ts';

/** The verification that a start wrote or continued, and the record to return. */
export interface StartAnswer {
  verification: Verification;
  record: ReturnType<typeof toVerificationRecord>;
}

export interface StartItem {
  request: StartRequest;
  /** Turns the record into the answer stored for an idempotency key; both commit together. */
  keep: (answer: StartAnswer) => AnswerToKeep | undefined;
  key: string | undefined;
}

/** Each start in a batch may lock a prefix, and Postgres has room for a few thousand locks in total. */
const mostLocks = 200;

const nameOf = ({ applicationId, to }: store.Destination) => `${applicationId} ${to}`;

/** Commits verifications together with their texts. If two nodes start for one number, the unique index refuses one. */
export function createStartBatch(database: Database, options: StartDecisionOptions): Batch<StartItem, StartAnswer> {
  const { clock, guard } = options;

  async function count(tx: Tx, items: StartItem[]): Promise<Map<string, store.StartCounts>> {
    const counts = await store.countStarts(tx, destinationsOf(items), guard.countLimits, clock.nowMs());
    return new Map(counts.map((row) => [nameOf(row), row]));
  }

  /** Decides in order: each start that this batch admits counts for the next. */
  function decide(
    items: StartItem[],
    pending: Map<string, Verification>,
    counts: Map<string, store.StartCounts>,
  ): StartDecision[] {
    const startedHere = new Map<string, number>();
    return items.map(({ request }) => {
      const name = nameOf(request);
      const prefix = `${request.applicationId} ${prefixOf(request.to)}`;
      const open = pending.get(name);
      const neighbours = startedHere.get(prefix) ?? 0;
      const counted = counts.get(name);
      const seen = counted && { ...counted, startsForPrefix: counted.startsForPrefix + neighbours };
      const decision = decideStart(options, request, open, seen);
      const { id, status } = decision.verification;
      if (id !== open?.id && status === 'pending') startedHere.set(prefix, neighbours + 1);
      return decision;
    });
  }

  /** No number has a pending verification, so there is no row to lock: one insert is enough. */
  async function startFresh(items: StartItem[], counts: Map<string, store.StartCounts>): Promise<StartAnswer[]> {
    const decisions = decide(items, new Map(), counts);
    await store.insertStarts(
      database,
      decisions.map(({ verification }) => verification),
      decisions.flatMap(({ message }) => message ?? []),
    );
    return decisions.map((each, index) => toAnswer(each, undefined, items[index]));
  }

  /** Locks the prefixes and pending rows until the outcome is written. */
  const startHolding = (items: StartItem[]) =>
    database.transaction(async (tx) => {
      const nowMs = clock.nowMs();
      if (guard.countsStarts) await store.lockPrefixes(tx, destinationsOf(items));
      const pending = await lockPending(tx, destinationsOf(items), nowMs);
      const decisions = decide(items, pending, await count(tx, items));
      await write(tx, decisions, nowMs);
      const answers = await answersTo(tx, decisions, items);
      const kept = items.flatMap(({ keep }, index) => {
        const answer = answers[index];
        return answer === undefined ? [] : (keep(answer) ?? []);
      });
      await insertAnswers(tx, kept, nowMs);
      return answers;
    });

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
    withoutTransaction: () => true,
    async run(tx, items) {
      if (guard.countsStarts || items.some(({ key }) => key !== undefined)) return startHolding(items);
      const counts = await count(tx, items);
      const open = [...counts.values()].some(({ pending }) => pending);
      return open ? startHolding(items) : startFresh(items, counts);
    },
  });
}

function destinationsOf(items: StartItem[]): store.CountedDestination[] {
  return items.map(({ request: { applicationId, to } }) => ({ applicationId, to, prefix: prefixOf(to) }));
}

/** Expires lapsed verifications, which frees their numbers, and returns the others. */
async function lockPending(
  tx: Tx,
  destinations: store.Destination[],
  nowMs: number,
): Promise<Map<string, Verification>> {
  const found = await store.lockPending(tx, destinations);
  const lapsed = found.filter(({ expiresAtMs }) => expiresAtMs <= nowMs);
  if (lapsed.length > 0) await store.expireLapsed(tx, lapsed, nowMs);
  return new Map(found.filter((row) => !lapsed.includes(row)).map((row) => [nameOf(row), row]));
}

async function write(tx: Tx, decisions: StartDecision[], nowMs: number): Promise<void> {
  const superseded = decisions.flatMap((each) => each.superseded ?? []);
  // Superseded rows must free their numbers before the new rows take them.
  await store.putVerifications(tx, superseded);
  await cancelTextsOf(
    tx,
    superseded.map(({ id }) => id),
    nowMs,
  );
  const changed = decisions.filter(
    ({ message, verification }) => message !== undefined || verification.status === 'blocked',
  );
  await store.putVerifications(
    tx,
    changed.map(({ verification }) => verification),
  );
  await insertMessages(
    tx,
    decisions.flatMap(({ message }) => message ?? []),
  );
}

async function answersTo(tx: Tx, decisions: StartDecision[], items: StartItem[]): Promise<StartAnswer[]> {
  const unsent = decisions.filter(({ message }) => message === undefined).map(({ verification }) => verification.id);
  const texts = await findNewestTexts(tx, unsent);
  return decisions.map((each, index) => toAnswer(each, texts.get(each.verification.id), items[index]));
}

/** `before` is the newest text if this start wrote none. A batch that runs twice finds its own text there. */
function toAnswer(
  { verification, message }: StartDecision,
  before: (VerificationText & { verificationId: string }) | undefined,
  item: StartItem | undefined,
): StartAnswer {
  const sent = message !== undefined || (before !== undefined && before.correlationId === item?.request.correlationId);
  const text: TextState | undefined =
    message === undefined
      ? before
      : { verificationId: verification.id, messageId: message.id, status: message.status, errorCode: null };
  return { verification, record: toVerificationRecord(verification, text, sent) };
}
