import { dayMs, toTimestamp } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { pieceRows } from '../../platform/work/maintenance.ts';

export const testSteps = ['name', 'connection', 'tls', 'bind', 'text', 'receipt'] as const;

/** One step of a test. A step that failed ends the test, and so does the receipt. */
export interface TestStep {
  step: (typeof testSteps)[number];
  ok: boolean;
  /** The finding or the error, as a sentence. */
  detail: string;
  tookMs: number;
}

/** A test that a worker has claimed. */
export interface ClaimedTest {
  id: string;
  carrierId: number;
  to: string;
  from: string;
  message: string;
}

export interface CarrierTest extends ClaimedTest {
  steps: TestStep[];
  createdAtMs: number;
  claimedAtMs: number | null;
  updatedAtMs: number;
  finishedAtMs: number | null;
}

/** A test that no worker takes within this time has failed. */
export const testTakenWithinMs = 30_000;
/** Maximum wait of a test for its receipt. */
export const testReceiptWithinMs = 120_000;

export async function insertTest(tx: Tx, test: ClaimedTest, nowMs: number): Promise<void> {
  await tx.query(
    `insert into carrier_test (id, carrier_id, recipient, sender, message, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $6)`,
    [test.id, test.carrierId, test.to, test.from, test.message, toTimestamp(nowMs)],
  );
}

const columns = 'id, carrier_id as "carrierId", recipient as "to", sender as "from", message';

export async function findTest(tx: Tx, carrierId: number, id: string): Promise<CarrierTest | undefined> {
  const { rows } = await tx.query<CarrierTest>(
    `select ${columns}, steps, created_at as "createdAtMs", claimed_at as "claimedAtMs", updated_at as "updatedAtMs",
       finished_at as "finishedAtMs"
     from carrier_test where id = $1 and carrier_id = $2`,
    [id, carrierId],
  );
  return rows[0];
}

/** Takes the oldest test of a carrier that no worker has taken. */
export async function claimTest(tx: Tx, carrierId: number, nowMs: number): Promise<ClaimedTest | undefined> {
  const { rows } = await tx.query<ClaimedTest>(
    `update carrier_test set claimed_at = $2, updated_at = $2 where id = (
       select id from carrier_test where carrier_id = $1 and claimed_at is null and created_at > $3
       order by created_at limit 1 for update skip locked)
     returning ${columns}`,
    [carrierId, toTimestamp(nowMs), toTimestamp(nowMs - testTakenWithinMs)],
  );
  return rows[0];
}

/** The carriers with tests that no worker has taken. */
export async function findWaitingTests(tx: Tx, nowMs: number): Promise<Set<number>> {
  const { rows } = await tx.query<{ id: number }>(waitingStatement, [toTimestamp(nowMs - testTakenWithinMs)]);
  return new Set(rows.map(({ id }) => id));
}

const waitingStatement = {
  name: 'find-waiting-carrier-tests',
  text: `select distinct carrier_id as id from (
      select carrier_id from carrier_test where claimed_at is null and created_at > $1 limit 1000) as waiting`,
};

export async function writeTestStep(tx: Tx, id: string, step: TestStep, nowMs: number): Promise<void> {
  const isLast = !step.ok || step.step === testSteps.at(-1);
  await tx.query(
    `update carrier_test set steps = steps || $2::jsonb, updated_at = $3,
       finished_at = case when $4 then $3::timestamptz else finished_at end
     where id = $1 and finished_at is null`,
    [id, JSON.stringify([step]), toTimestamp(nowMs), isLast],
  );
}

/** Deletes tests after a day, because they contain a phone number. */
export async function deleteOldTests(tx: Tx, nowMs: number): Promise<number> {
  const { count } = await tx.query(
    `delete from carrier_test where id in (select id from carrier_test where created_at < $1 order by created_at limit $2)`,
    [toTimestamp(nowMs - dayMs), pieceRows],
  );
  return count;
}
