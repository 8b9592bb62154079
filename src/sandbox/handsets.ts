import { type Clock, toTimestamp } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database.ts';

/** A text that arrived on a virtual phone. The row holds no text: readers render it. */
export interface HandsetText {
  id: number;
  applicationId: string;
  to: string;
  messageId: string;
  attempt: number;
  receivedAtMs: number;
}

export interface ArrivingText {
  applicationId: string;
  to: string;
  messageId: string;
  attempt: number;
  receiptOutcome: 'delivered' | 'undelivered';
  receiptError: string | null;
  receiptAfterMs: number;
}

export interface DueReceipt {
  messageId: string;
  attempt: number;
  outcome: 'delivered' | 'undelivered';
  error: string | null;
}

/** The sandbox's phones and their network. Its state is in Postgres and survives a crash, like a real network's. */
export interface Handsets {
  receive(texts: ArrivingText[]): Promise<void>;
  /** Passes due receipts to `handOver` and clears them only if it succeeds. Returns how many there were. */
  reportDue(handOver: (receipts: DueReceipt[]) => Promise<void>): Promise<number>;
  list(filter: {
    applicationId: string;
    to: string | undefined;
    before: number | undefined;
    limit: number;
  }): Promise<HandsetText[]>;
  /** Arrivals after `id` for all applications, oldest first, at most 1,000. */
  listAfter(id: number): Promise<HandsetText[]>;
  /** An application's arrivals after `after`, oldest first; if there are more than `limit`, the newest ones. */
  listMissed(filter: {
    applicationId: string;
    to: string | undefined;
    after: number;
    limit: number;
  }): Promise<HandsetText[]>;
  newestId(): Promise<number>;
}

/** The table also holds texts that did not reach their phone. */
const arrived = "receipt_outcome = 'delivered'";

const handsetColumns = `id, application_id as "applicationId", recipient as "to", message_id as "messageId", attempt,
  received_at as "receivedAtMs"`;

export function createHandsets(database: Database, clock: Clock): Handsets {
  return {
    async receive(texts) {
      const nowMs = clock.nowMs();
      await database.query(insertTexts, [
        texts.map(({ applicationId }) => applicationId),
        texts.map(({ to }) => to),
        texts.map(({ messageId }) => messageId),
        texts.map(({ attempt }) => attempt),
        texts.map(({ receiptOutcome }) => receiptOutcome),
        texts.map(({ receiptError }) => receiptError),
        texts.map(({ receiptAfterMs }) => toTimestamp(nowMs + receiptAfterMs)),
        toTimestamp(nowMs),
      ]);
    },

    reportDue: (handOver) =>
      database.transaction(async (tx: Tx) => {
        const { rows } = await tx.query<DueReceipt>(takeReceipts, [toTimestamp(clock.nowMs())]);
        if (rows.length > 0) await handOver(rows);
        return rows.length;
      }),

    async list({ applicationId, to, before, limit }) {
      // Postgres rejects NUL in a parameter, and no row contains one.
      if (to?.includes('\0')) return [];
      const values: unknown[] = [applicationId, limit];
      const conditions = ['application_id = $1', arrived];
      const add = (condition: string, value: unknown) => {
        if (value === undefined) return;
        values.push(value);
        conditions.push(`${condition} $${values.length}`);
      };
      add('recipient =', to);
      add('id <', before);
      const { rows } = await database.query<HandsetText>(
        `select ${handsetColumns} from handset_text where ${conditions.join(' and ')} order by id desc limit $2`,
        values,
      );
      return rows;
    },

    async listAfter(id) {
      const { rows } = await database.query<HandsetText>(selectAfter, [id]);
      return rows;
    },

    async listMissed({ applicationId, to, after, limit }) {
      if (to?.includes('\0')) return [];
      const { rows } = await database.query<HandsetText>(selectMissed, [applicationId, after, to ?? null, limit]);
      return rows.reverse();
    },

    async newestId() {
      const { rows } = await database.query<{ id: number | null }>('select max(id) as id from handset_text');
      return rows[0]?.id ?? 0;
    },
  };
}

export async function deleteArrivals(tx: Tx, messageIds: string[]): Promise<void> {
  await tx.query('delete from handset_text where message_id = any($1)', [messageIds]);
}

/**
 * The lock makes id order commit order, so a reader that has seen an id has seen all earlier ones. The join draws each
 * id after the lock is taken.
 */
const insertTexts = {
  name: 'insert-handset-texts',
  text: `with locked as materialized (select pg_advisory_xact_lock(4207020))
    insert into handset_text (application_id, recipient, message_id, attempt, receipt_outcome, receipt_error,
      receipt_due_at, received_at)
    select application_id, recipient, message_id, attempt, outcome, error, due_at, $8
    from locked cross join unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::timestamptz[])
      as t(application_id, recipient, message_id, attempt, outcome, error, due_at)
    on conflict (message_id, attempt) do nothing`,
};

const takeReceipts = {
  name: 'take-handset-receipts',
  text: `update handset_text set receipt_due_at = null where id in (
      select id from handset_text where receipt_due_at <= $1 order by receipt_due_at limit 500 for update skip locked)
    returning message_id as "messageId", attempt, receipt_outcome as outcome, receipt_error as error`,
};

const selectAfter = {
  name: 'select-handset-texts-after',
  text: `select ${handsetColumns} from handset_text where id > $1 and ${arrived} order by id limit 1000`,
};

const selectMissed = {
  name: 'select-missed-handset-texts',
  text: `select ${handsetColumns} from handset_text
    where application_id = $1 and id > $2 and ($3::text is null or recipient = $3) and ${arrived}
    order by id desc limit $4`,
};
