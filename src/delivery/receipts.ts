import { type Clock, hourMs, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import { sqlStateOf } from '../platform/database-errors.ts';
import { readCarrierId } from './attempt-result.ts';
import type { Receipt } from './carrier.ts';

const unmatchedKeptMs = 72 * hourMs;
const collisionTries = 5;

/**
 * Records carriers' receipts. States never go backwards, so late, repeated or out-of-order receipts change nothing. An
 * unmatched receipt may have come before the carrier's answer was recorded: it is kept and tried again.
 */
export interface Receipts {
  apply(carrier: string, receipts: Receipt[]): Promise<void>;
  /** Retries unmatched receipts that are due and deletes those older than 72 hours. Returns how many it tried. */
  rematch(): Promise<number>;
}

export function createReceipts(database: Database, clock: Clock): Receipts {
  /** Returns the receipts that match no message. */
  async function apply(tx: Tx, carrier: string, receipts: Receipt[]): Promise<Receipt[]> {
    const named = receipts.filter(({ messageId }) => messageId !== null);
    const unnamed = receipts.filter(({ messageId }) => messageId === null);
    const lost = await applyBy(tx, byMessageId, carrier, named, ({ messageId }) => messageId ?? '');
    return applyBy(tx, byCarrierId, carrier, [...unnamed, ...lost], ({ carrierMessageId }) => carrierMessageId);
  }

  async function applyBy(
    tx: Tx,
    statement: string,
    carrier: string,
    receipts: Receipt[],
    keyOf: (receipt: Receipt) => string,
  ): Promise<Receipt[]> {
    const found = new Set<string>();
    for (const round of inRounds(receipts, keyOf)) {
      const { rows } = await tx.query<{ key: string }>(statement, [
        carrier,
        round.map(keyOf),
        round.map(({ outcome }) => outcome),
        round.map(({ error }) => error),
        toTimestamp(clock.nowMs()),
        round.map(({ carrierMessageId }) => carrierMessageId),
      ]);
      for (const { key } of rows) found.add(key);
    }
    return receipts.filter((receipt) => !found.has(keyOf(receipt)));
  }

  /** Retries on deadlock: results and receipts for the same messages may be written at the same time. */
  async function transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries++) {
      try {
        return await database.transaction(work);
      } catch (error) {
        if (tries === collisionTries || !/^40/.test(sqlStateOf(error) ?? '')) throw error;
      }
    }
  }

  return {
    async apply(carrier, receipts) {
      const readable = receipts.map(readReceipt);
      await transaction(async (tx) => {
        const unmatched = await apply(tx, carrier, readable);
        if (unmatched.length === 0) return;
        unmatched.sort((a, b) => (a.carrierMessageId < b.carrierMessageId ? -1 : 1));
        await tx.query(insertUnmatched, [
          carrier,
          unmatched.map(({ carrierMessageId }) => carrierMessageId),
          unmatched.map(({ outcome }) => outcome),
          unmatched.map(({ error }) => error),
          toTimestamp(clock.nowMs()),
        ]);
      });
    },

    rematch: () =>
      transaction(async (tx) => {
        const nowMs = clock.nowMs();
        const times = [toTimestamp(nowMs), toTimestamp(nowMs - unmatchedKeptMs)];
        const { rows } = await tx.query<Receipt & { id: number; carrier: string; matched: boolean }>(takeDue, times);
        const matched = rows.filter((row) => row.matched).sort((a, b) => a.id - b.id);
        for (const carrier of new Set(matched.map((row) => row.carrier))) {
          const receipts = matched.filter((row) => row.carrier === carrier);
          await apply(
            tx,
            carrier,
            receipts.map((receipt) => ({ ...receipt, messageId: null })),
          );
        }
        return rows.length;
      }),
  };
}

/** Makes a carrier's data storable, so that one bad receipt does not fail the whole batch. */
function readReceipt(receipt: Receipt): Receipt {
  const messageId = receipt.messageId?.includes('\0') ? null : receipt.messageId;
  return { ...receipt, messageId, carrierMessageId: readCarrierId(receipt.carrierMessageId) };
}

/**
 * One statement cannot order several receipts for one message, so each round has one per message, in order of arrival.
 * Rounds are sorted, so that two nodes lock rows in the same order. Usually there is one round.
 */
function inRounds(receipts: Receipt[], keyOf: (receipt: Receipt) => string): Receipt[][] {
  const perKey = new Map<string, Map<string, Receipt>>();
  for (const receipt of receipts) {
    const said = perKey.get(keyOf(receipt)) ?? new Map<string, Receipt>();
    perKey.set(keyOf(receipt), said);
    // Drops exact repeats.
    const what = `${receipt.outcome} ${receipt.carrierMessageId}`;
    if (!said.has(what)) said.set(what, receipt);
  }
  const sorted = [...perKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, said]) => [...said.values()]);
  const rounds = Math.max(0, ...sorted.map((said) => said.length));
  return Array.from({ length: rounds }, (_, round) => sorted.flatMap((said) => said[round] ?? []));
}

/**
 * `known` matches any state, so that a receipt without effect does not count as unmatched. Only a sent text can be
 * delivered. If it may have been sent twice, a failure counts only for the copy whose carrier id we know.
 */
function applyStatement(match: string) {
  return `with report as (
        select * from unnest($2::text[], $3::text[], $4::text[], $6::text[]) as r(key, outcome, error, reported_id)),
      known as (select m.id as known_id, r.* from message m join report r on ${match} where m.carrier = $1),
      applied as (
        update message set status = outcome, updated_at = $5::timestamptz, due_at = null, on_the_wire = false,
          error_code = case outcome when 'delivered' then null when 'expired' then coalesce(error, 'expired')
            when 'unknown' then error else coalesce(error, 'unknown') end,
          sequence = sequence + 1, sent_at = coalesce(sent_at, $5::timestamptz),
          carrier_message_id = coalesce(carrier_message_id, reported_id),
          delivered_at = case when outcome = 'delivered' then $5::timestamptz end
        from known where id = known_id and case
          when outcome = 'delivered' then status in ('sent', 'unknown') or (status = 'queued' and attempt > 0)
          when status = 'unknown' then outcome <> 'unknown'
          when status = 'sent' then possible_duplicates = 0 or carrier_message_id = reported_id
          else status = 'queued' and on_the_wire and possible_duplicates = 0 end)
      select key from known`;
}

const byMessageId = applyStatement('m.id = r.key');
const byCarrierId = applyStatement('m.carrier_message_id = r.key');

const insertUnmatched = `insert into unmatched_receipt (carrier, carrier_message_id, outcome, error_code, received_at, retry_at)
  select $1, id, outcome, error_code, $5, $5 from unnest($2::text[], $3::text[], $4::text[]) as u(id, outcome, error_code)
  on conflict do nothing`;

const takeDue = `with due as (
    select u.id, exists (select from message m
      where m.carrier = u.carrier and m.carrier_message_id = u.carrier_message_id) as matched
    from unmatched_receipt u where retry_at <= $1 order by retry_at limit 500 for update skip locked),
  kept as (
    update unmatched_receipt u set retry_at = $1::timestamptz + greatest(interval '1 second', $1::timestamptz - received_at)
    from due where u.id = due.id and not matched and received_at >= $2),
  gone as (
    delete from unmatched_receipt u using due where u.id = due.id and (matched or received_at < $2)
    returning u.id, carrier, carrier_message_id, outcome, error_code)
  select due.id, matched, carrier, carrier_message_id as "carrierMessageId", outcome, error_code as error
  from due left join gone using (id)`;
