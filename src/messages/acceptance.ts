import type { CallingApplication } from '../http/route.ts';
import { type Batch, createBatch } from '../platform/batch.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { ApiError } from '../platform/errors.ts';
import { type AnswerToKeep, insertAnswers } from '../platform/idempotency.ts';
import type { Message } from './message.ts';
import { insertFailed, insertMessages } from './message-store.ts';
import type { OptOutCheck } from './opt-out-check.ts';

/** What became of a message: its row as it was written, or why it was refused and not kept. */
export type SendOutcome = Message | ApiError;

/** Whose texts they are. */
export type Sender = Pick<CallingApplication, 'applicationId'>;

/** Turns the outcomes, in the order of the messages, into the answer stored for an idempotency key. */
export type KeepOutcomes = (outcomes: readonly SendOutcome[]) => AnswerToKeep | undefined;

/** A batch commits these together: messages, and the answer stored for their idempotency key. */
export interface Acceptance {
  sender: Sender;
  messages: Message[];
  keep: KeepOutcomes;
  /** What `keep` returns if every message is written as it is: nearly always. */
  kept: AnswerToKeep | undefined;
}

interface AcceptanceOptions {
  database: Database;
  clock: Clock;
  optOuts: OptOutCheck;
}

const noKeys: string[] = [];

/** Writes messages with what keeps some of them from being sent, many callers' in one commit. */
export function createAcceptance({ database, clock, optOuts }: AcceptanceOptions): Batch<Acceptance, SendOutcome[]> {
  async function write(tx: Tx, items: Acceptance[]): Promise<SendOutcome[][]> {
    await insertAnswers(
      tx,
      items.flatMap(({ kept }) => kept ?? []),
      clock.nowMs(),
    );
    await insertMessages(
      tx,
      items.flatMap(({ messages }) => messages),
    );
    return items.map(({ messages }) => messages);
  }

  /** Writes the messages to people who opted out as failed: they never enter the queue. */
  async function writeSome(tx: Tx, items: Acceptance[], optedOut: ReadonlySet<string>): Promise<SendOutcome[][]> {
    const outcomes = items.map(({ messages }) =>
      messages.map((message): SendOutcome => (optedOut.has(message.id) ? toBlocked(message) : message)),
    );
    await insertAnswers(
      tx,
      items.flatMap(({ keep }, index) => keep(outcomes[index] ?? []) ?? []),
      clock.nowMs(),
    );
    const written = outcomes.flat().filter(isMessage);
    await insertMessages(tx, written.filter(isToSend));
    await insertFailed(
      tx,
      written.filter((message) => !isToSend(message)),
    );
    return outcomes;
  }

  return createBatch({
    database,
    clock,
    repeatable: true,
    ownerOf: ({ sender }) => sender.applicationId,
    weightOf: ({ messages }) => Math.max(1, messages.length),
    keysOf: ({ kept }) => (kept === undefined ? noKeys : kept.rows.map(({ hash }) => hash.toString('base64'))),
    // One statement needs no transaction; otherwise `run` opens one.
    withoutTransaction: () => true,
    async run(_tx, items) {
      const messages = items.flatMap((item) => item.messages);
      const optedOut = optOuts.none() ? undefined : await optOuts.find(database, messages);
      if (optedOut !== undefined && optedOut.size > 0) {
        return database.transaction((tx) => writeSome(tx, items, optedOut));
      }
      const isAlone = items.every(({ kept }) => kept === undefined);
      return isAlone ? write(database, items) : database.transaction((tx) => write(tx, items));
    },
  });
}

export function isMessage(outcome: SendOutcome): outcome is Message {
  return !(outcome instanceof ApiError);
}

function isToSend({ status }: Message): boolean {
  return status !== 'failed';
}

function toBlocked(message: Message): Message {
  return { ...message, status: 'failed', errorCode: 'blocked_by_recipient' };
}
