import type { Clock } from '../platform/clock.ts';
import { type Batch, createBatch } from '../platform/database/batch.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { type AnswerToKeep, insertAnswers } from '../platform/database/idempotency.ts';
import { ApiError, unavailable } from '../platform/errors.ts';
import { longestRequestMs } from '../platform/ids.ts';
import type { Message } from './message.ts';
import { insertFailed, insertMessages, insertUnlessOptOuts } from './message-insert-store.ts';
import { findMessages } from './message-store.ts';
import type { OptOutCheck } from './opt-out-check.ts';
import { holdSpend, type Spender, spendLimit } from './spend.ts';
import { insertWithinSpend, type Spending } from './spend-store.ts';

/** The outcome of a message: its row as written, or the error that refused it. */
export type SendOutcome = Message | ApiError;

/** Turns the outcomes, in the order of the messages, into the answer stored for an idempotency key. */
export type KeepOutcomes = (outcomes: readonly SendOutcome[]) => AnswerToKeep | undefined;

/** A batch commits these together: messages, and the answer stored for their idempotency key. */
export interface Acceptance {
  spender: Spender;
  messages: Message[];
  keep: KeepOutcomes;
  /** What `keep` returns if no message changes, which is the usual case. */
  kept: AnswerToKeep | undefined;
}

interface AcceptanceOptions {
  database: Database;
  clock: Clock;
  optOuts: OptOutCheck;
}

const noKeys: string[] = [];
const noTexts: ReadonlySet<string> = new Set();

/**
 * Writes messages of many callers in one commit. It counts the segments of applications that have a limit, and fails
 * the messages to people who opted out. If neither applies, one statement writes the batch.
 */
export function createAcceptance({ database, clock, optOuts }: AcceptanceOptions): Batch<Acceptance, SendOutcome[]> {
  async function writeAll(tx: Tx, items: Acceptance[]): Promise<SendOutcome[][]> {
    await keepAnswers(tx, items);
    await insertMessages(
      tx,
      items.flatMap(({ messages }) => messages),
    );
    return items.map(({ messages }) => messages);
  }

  /** Undefined, with nothing written, if there is any opt-out. */
  async function writeUnlessOptOuts(tx: Tx, items: Acceptance[], again: boolean): Promise<SendOutcome[][] | undefined> {
    const messages = items.flatMap((item) => item.messages);
    if (messages.length > 0 && !(await insertUnlessOptOuts(tx, messages, again))) return undefined;
    await keepAnswers(tx, items);
    return items.map((item) => item.messages);
  }

  function keepAnswers(tx: Tx, items: Acceptance[]): Promise<void> {
    return insertAnswers(
      tx,
      items.flatMap(({ kept }) => kept ?? []),
      clock.nowMs(),
    );
  }

  /** Writes the requests that have room for all their texts by one statement; the others need a decision for each text. */
  async function writeWithinSpend(items: Acceptance[], spendings: Spending[]): Promise<SendOutcome[][]> {
    const messages = items.flatMap((item) => item.messages);
    const full = await insertWithinSpend(database, messages, spendings, clock.nowMs());
    if (full.size === 0) return items.map((item) => item.messages);
    const left = items.filter(({ spender }) => full.has(spender.applicationId));
    const decided = await database.transaction((tx) => decideEach(tx, left, noTexts));
    return items.map((item) => decided[left.indexOf(item)] ?? item.messages);
  }

  /** Decides text by text: 402 without room, failed if its recipient has opted out. */
  async function decideEach(tx: Tx, items: Acceptance[], optedOut: ReadonlySet<string>): Promise<SendOutcome[][]> {
    const nowMs = clock.nowMs();
    const spend = await holdSpend(
      tx,
      items.map(({ spender }) => spender),
      nowMs,
    );
    const outcomes = items.map(({ spender, messages }) =>
      messages.map((message): SendOutcome => {
        if (!optedOut.has(message.id)) return spend.take(spender, message.segmentCount) ? message : spendLimit(spender);
        return spend.isUsedUp(spender) ? spendLimit(spender) : toBlocked(message);
      }),
    );
    await spend.write();
    await insertAnswers(
      tx,
      items.flatMap(({ keep }, index) => keep(outcomes[index] ?? []) ?? []),
      nowMs,
    );
    const written = outcomes.flat().filter(isMessage);
    await insertMessages(
      tx,
      written.filter(({ status }) => status !== 'failed'),
    );
    await insertFailed(
      tx,
      written.filter(({ status }) => status === 'failed'),
    );
    return outcomes;
  }

  async function writeNew(items: Acceptance[], again: boolean): Promise<SendOutcome[][]> {
    const messages = items.flatMap((item) => item.messages);
    const spendings = spendingsOf(items);
    const keepsNone = items.every(({ kept }) => kept === undefined);
    if (spendings.length === 0 && optOuts.none()) {
      const write = (tx: Tx) => writeUnlessOptOuts(tx, items, again);
      const written = keepsNone ? await write(database) : await database.transaction(write);
      if (written !== undefined) return written;
      optOuts.noteSome();
    }
    const optedOut = messages.length === 0 ? noTexts : await optOuts.find(database, messages);
    if (optedOut.size === 0 && spendings.length === 0) {
      return keepsNone ? writeAll(database, items) : database.transaction((tx) => writeAll(tx, items));
    }
    if (optedOut.size === 0 && keepsNone) return writeWithinSpend(items, spendings);
    return database.transaction((tx) => decideEach(tx, items, optedOut));
  }

  /** An application's items are committed together: if one of its messages exists, the missing ones were refused. */
  async function writeMissing(items: Acceptance[]): Promise<SendOutcome[][]> {
    const found = await findMessages(
      database,
      items.flatMap(({ messages }) => messages.map(({ id }) => id)),
    );
    const written = new Map(found.map((message) => [message.id, message]));
    const done = new Set(found.map(({ applicationId }) => applicationId));
    const left = items.filter(({ spender }) => !done.has(spender.applicationId));
    const outcomes = left.length === 0 ? [] : await writeNew(left, true);
    return items.map((item) => {
      const { spender, messages } = item;
      if (!done.has(spender.applicationId)) return outcomes[left.indexOf(item)] ?? messages;
      return messages.map(({ id }) => written.get(id) ?? spendLimit(spender));
    });
  }

  return createBatch({
    database,
    clock,
    repeatable: true,
    ownerOf: ({ spender }) => spender.applicationId,
    weightOf: ({ messages }) => Math.max(1, messages.length),
    keysOf: ({ kept }) => (kept === undefined ? noKeys : kept.rows.map(({ hash }) => hash.toString('base64'))),
    // One statement needs no transaction; otherwise it opens its own.
    withoutTransaction: () => true,
    async run(_tx, items, again) {
      requireFresh(items, clock.nowMs());
      return again ? writeMissing(items) : writeNew(items, false);
    },
  });
}

/** A node that was suspended must not write texts whose callers have left: their minute may be summed up already. */
function requireFresh(items: Acceptance[], nowMs: number): void {
  const oldestMs = nowMs - longestRequestMs;
  if (items.some(({ messages }) => (messages[0]?.createdAtMs ?? nowMs) < oldestMs)) {
    throw unavailable('The service could not accept the text in time. Try again shortly.');
  }
}

export function isMessage(outcome: SendOutcome): outcome is Message {
  return !(outcome instanceof ApiError);
}

function toBlocked(message: Message): Message {
  return { ...message, status: 'failed', errorCode: 'blocked_by_recipient' };
}

/** The segments that each limited application spends in a batch. */
function spendingsOf(items: Acceptance[]): Spending[] {
  const spendings = new Map<string, Spending>();
  for (const { spender, messages } of items) {
    const { applicationId, segmentsPerDay: most } = spender;
    if (most === null || messages.length === 0) continue;
    const before = spendings.get(applicationId)?.segments ?? 0;
    const segments = messages.reduce((sum, { segmentCount }) => sum + segmentCount, before);
    spendings.set(applicationId, { applicationId, segments, most });
  }
  return [...spendings.values()];
}
