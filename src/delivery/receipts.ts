import type { Clock } from '../platform/clock.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';
import type { Receipt } from './carrier.ts';

const unmatchedKeptMs = 72 * 3_600_000;

/**
 * Writes down what carriers report. States never go backwards, so a receipt that comes late, twice or out of order
 * changes nothing. One for which no message is found yet may have come before the carrier's own answer was written: it is
 * kept and tried again.
 */
export interface Receipts {
  apply(carrier: string, receipts: Receipt[]): Promise<void>;
  /** Tries the unmatched again, and lets go of those that are too old. Returns how many found their message. */
  rematch(): Promise<number>;
}

export function createReceipts(database: Database, clock: Clock): Receipts {
  async function apply(tx: Tx, carrier: string, receipts: Receipt[]): Promise<Receipt[]> {
    const nowMs = clock.nowMs();
    const byReference = firstPer(
      receipts.filter(({ messageId }) => messageId !== null),
      ({ messageId }) => messageId ?? '',
    );
    const byCarrier = firstPer(
      receipts.filter(({ messageId }) => messageId === null),
      (each) => each.carrierMessageId,
    );
    const found = new Set<string>();
    if (byReference.length > 0) {
      const keys = byReference.map(({ messageId }) => messageId);
      for (const id of await run(tx, applyByReference, carrier, keys, byReference, nowMs)) found.add(id);
    }
    if (byCarrier.length > 0) {
      const keys = byCarrier.map(({ carrierMessageId }) => carrierMessageId);
      for (const id of await run(tx, applyByCarrierId, carrier, keys, byCarrier, nowMs)) found.add(id);
    }
    return receipts.filter((receipt) => !found.has(receipt.messageId ?? receipt.carrierMessageId));
  }

  return {
    async apply(carrier, receipts) {
      await database.transaction(async (tx) => {
        const unmatched = await apply(tx, carrier, receipts);
        if (unmatched.length === 0) return;
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
      database.transaction(async (tx) => {
        const tooOld = toTimestamp(clock.nowMs() - unmatchedKeptMs);
        await tx.query('delete from unmatched_receipt where received_at < $1', [tooOld]);
        const { rows } = await tx.query<Receipt & { carrier: string }>(takeMatching);
        for (const carrier of new Set(rows.map((row) => row.carrier))) {
          const receipts = rows.filter((row) => row.carrier === carrier);
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

/** Of several for one message the first counts: one statement could not tell which of them came before. */
function firstPer(receipts: Receipt[], keyOf: (receipt: Receipt) => string): Receipt[] {
  const first = new Map<string, Receipt>();
  for (const receipt of receipts) if (!first.has(keyOf(receipt))) first.set(keyOf(receipt), receipt);
  return [...first.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, receipt]) => receipt);
}

async function run(
  tx: Tx,
  statement: { name: string; text: string },
  carrier: string,
  keys: (string | null)[],
  receipts: Receipt[],
  nowMs: number,
): Promise<string[]> {
  const { rows } = await tx.query<{ key: string }>(statement, [
    carrier,
    keys,
    receipts.map(({ outcome }) => outcome),
    receipts.map(({ error }) => error),
    toTimestamp(nowMs),
    receipts.map(({ carrierMessageId }) => carrierMessageId),
  ]);
  return rows.map(({ key }) => key);
}

/**
 * `known` finds the message whatever its state, so that a receipt which may not change it is not taken for unmatched.
 * Only a text that was on its way can have been delivered; `unknown` is the one end that may still become another.
 */
function applyStatement(name: string, match: string) {
  return {
    name,
    text: `with report as (
        select * from unnest($2::text[], $3::text[], $4::text[], $6::text[]) as r(key, outcome, error, carrier_message_id)),
      known as (select m.id as known_id, r.* from message m join report r on ${match} where m.carrier = $1),
      applied as (
        update message set status = outcome, error_code = error, updated_at = $5::timestamptz, due_at = null,
          on_the_wire = false, sequence = sequence + 1, sent_at = coalesce(sent_at, $5::timestamptz),
          carrier_message_id = coalesce(message.carrier_message_id, known.carrier_message_id),
          delivered_at = case when outcome = 'delivered' then $5::timestamptz end
        from known where id = known_id
          and (status = 'sent' or (status = 'queued' and on_the_wire) or (status = 'unknown' and outcome <> 'unknown')))
      select key from known`,
  };
}

const applyByReference = applyStatement('apply-receipts-by-reference', 'm.id = r.key');
const applyByCarrierId = applyStatement('apply-receipts-by-carrier-id', 'm.carrier_message_id = r.key');

const insertUnmatched = {
  name: 'insert-unmatched-receipts',
  text: `insert into unmatched_receipt (carrier, carrier_message_id, outcome, error_code, received_at)
    select $1, id, outcome, error_code, $5 from unnest($2::text[], $3::text[], $4::text[]) as u(id, outcome, error_code)`,
};

const takeMatching = {
  name: 'take-matching-receipts',
  text: `delete from unmatched_receipt where id in (
      select u.id from unmatched_receipt u
      join message m on m.carrier = u.carrier and m.carrier_message_id = u.carrier_message_id
      order by u.id limit 500 for update of u skip locked)
    returning carrier, carrier_message_id as "carrierMessageId", outcome, error_code as error`,
};
