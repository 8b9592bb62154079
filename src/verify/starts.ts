import { cancelTexts, insertMessages } from '../messages/message-store.ts';
import { type Batch, createBatch } from '../platform/batch.ts';
import type { Database, Tx } from '../platform/database.ts';
import { type IdempotencyRow, insertAnswers } from '../platform/idempotency.ts';
import { decideStart, type Started, type StartRequest, type StartRules } from './start.ts';
import { textsOf } from './text-states.ts';
import { prefixOf, type Verification } from './verification.ts';
import { type TextState, toVerification } from './verification-record.ts';
import * as store from './verification-store.ts';

/** What was written for a start, and the record that answers it. */
export interface StartAnswer {
  verification: Verification;
  record: ReturnType<typeof toVerification>;
}

export interface StartItem {
  request: StartRequest;
  /** Turns the record into the answer to keep for an idempotency key, which commits with it. */
  keep: (answer: StartAnswer) => IdempotencyRow | undefined;
  key: string | undefined;
}

const nameOf = ({ applicationId, recipient }: store.Destination) => `${applicationId} ${recipient}`;

/** Verifications and their texts in one commit. Of two nodes at one number the index refuses one. */
export function createStarts(database: Database, rules: StartRules): Batch<StartItem, StartAnswer> {
  const { clock } = rules;
  return createBatch({
    database,
    clock,
    repeatable: true,
    keysOf: ({ request, key }) => [
      nameOf({ applicationId: request.applicationId, recipient: request.to }),
      ...(key === undefined ? [] : [`key ${key}`]),
    ],
    async run(tx, items) {
      const nowMs = clock.nowMs();
      const destinations = items.map(({ request }) => ({
        applicationId: request.applicationId,
        recipient: request.to,
        prefix: prefixOf(request.to),
      }));
      const pending = await lockPending(tx, destinations, nowMs);
      const counts = new Map(
        (await store.countStarts(tx, destinations, rules.guard.neighboursCounted, nowMs)).map((row) => [
          nameOf(row),
          row,
        ]),
      );
      const started = items.map(({ request }) => {
        const name = nameOf({ applicationId: request.applicationId, recipient: request.to });
        return decideStart(rules, request, pending.get(name), counts.get(name));
      });
      await write(tx, started, nowMs);
      const answers = await answersTo(tx, started);
      const kept = items.flatMap(({ keep }, index) => {
        const answer = answers[index];
        return answer === undefined ? [] : (keep(answer) ?? []);
      });
      await insertAnswers(tx, kept, nowMs);
      return answers;
    },
  });
}

/** Those that are over give their number up, and count as none. */
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

async function write(tx: Tx, started: Started[], nowMs: number): Promise<void> {
  const superseded = started.flatMap((each) => each.superseded ?? []);
  // They give their number up before the new ones take it.
  await store.putVerifications(tx, superseded);
  await cancelTexts(
    tx,
    superseded.map(({ id }) => id),
    nowMs,
  );
  const changed = started.filter(
    ({ message, verification }) => message !== undefined || verification.status === 'blocked',
  );
  await store.putVerifications(
    tx,
    changed.map(({ verification }) => verification),
  );
  await insertMessages(
    tx,
    started.flatMap(({ message }) => message ?? []),
  );
}

async function answersTo(tx: Tx, started: Started[]): Promise<StartAnswer[]> {
  const unsent = started.filter(({ message }) => message === undefined).map(({ verification }) => verification.id);
  const texts = await textsOf(tx, unsent);
  return started.map(({ verification, message }) => {
    const text: TextState | undefined =
      message === undefined
        ? texts.get(verification.id)
        : { verificationId: verification.id, messageId: message.id, status: message.status, errorCode: null };
    return { verification, record: toVerification(verification, text) };
  });
}
