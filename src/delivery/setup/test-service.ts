import type { Clock } from '../../platform/clock.ts';
import type { Database, Note } from '../../platform/database/database.ts';
import { notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type CarrierRow, findCarrier, notifyCarriers } from '../carrier/store.ts';
import {
  type CarrierTest,
  findTest,
  insertTest,
  testReceiptWithinMs,
  testSteps,
  testTakenWithinMs,
} from '../carrier/test-store.ts';

export interface TestReport extends CarrierTest {
  status: 'waiting' | 'running' | 'passed' | 'failed';
  /** The reason, if no step says how the test ended. */
  error: string | null;
}

export interface CarrierTestService {
  /** Asks the workers to test a carrier. Returns the test's id. */
  start(name: string, text: { to: string; from: string; message: string }, note?: Note): Promise<string>;
  require(name: string, id: string): Promise<TestReport>;
}

/** Longer than a step takes: a worker that writes nothing for this long has stopped. */
const silentForMs = testReceiptWithinMs + 60_000;

export function createCarrierTestService(options: { database: Database; clock: Clock }): CarrierTestService {
  const { database, clock } = options;

  async function requireCarrier(name: string): Promise<CarrierRow> {
    const row = await findCarrier(database, name);
    if (row === undefined) throw notFound();
    return row;
  }

  return {
    async start(name, { to, from, message }, note) {
      const { id: carrierId } = await requireCarrier(name);
      const id = newId('tst', clock);
      await database.transaction(async (tx) => {
        await insertTest(tx, { id, carrierId, to, from, message }, clock.nowMs());
        await note?.(tx, id);
        await notifyCarriers(tx);
      });
      return id;
    },

    async require(name, id) {
      const { id: carrierId } = await requireCarrier(name);
      const test = await findTest(database, carrierId, id);
      if (test === undefined) throw notFound();
      return reportOf(test, clock.nowMs());
    },
  };
}

function reportOf(test: CarrierTest, nowMs: number): TestReport {
  const { steps, createdAtMs, claimedAtMs, updatedAtMs, finishedAtMs } = test;
  if (finishedAtMs !== null) {
    const last = steps.at(-1);
    const passed = last?.ok === true && last.step === testSteps.at(-1);
    return { ...test, status: passed ? 'passed' : 'failed', error: null };
  }
  if (claimedAtMs !== null) {
    if (nowMs - updatedAtMs <= silentForMs) return { ...test, status: 'running', error: null };
    return { ...test, status: 'failed', error: 'The worker that ran the test has stopped. Start the test again.' };
  }
  if (nowMs - createdAtMs < testTakenWithinMs) return { ...test, status: 'waiting', error: null };
  return {
    ...test,
    status: 'failed',
    error: 'No worker has taken the test within 30 s. Check that the service, or a worker, is running.',
  };
}
