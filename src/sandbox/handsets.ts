import { type Clock, minuteMs, toTimestamp } from '../platform/clock.ts';
import { advisoryLocks } from '../platform/database/advisory-locks.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { fromUuid, idTimeMs, uuidFloor, uuidOf } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';

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
  /** False if the text does not reach the phone; its receipt then reports a failure. */
  delivered: boolean;
  /** How much later than others its receipt comes. */
  receiptLaterMs: number;
  /** Whether this is a call that rings, until its receipt is due, so that a person may answer or decline it. */
  rings?: boolean;
}

/** A text that a configured carrier delivered. */
export type ShownText = Pick<ArrivingText, 'applicationId' | 'to' | 'messageId'>;

export interface DueReceipt {
  messageId: string;
  attempt: number;
  to: string;
  delivered: boolean;
  /** Why a call failed; null if only the virtual number determines it. */
  error?: string | null;
}

/** The sandbox's phones and their network. Its state is in Postgres and survives a crash, like a real network's. */
export interface Handsets {
  receive(texts: ArrivingText[]): Promise<void>;
  /** Shows texts that a configured carrier delivered. That carrier sends the receipts. */
  show(tx: Tx, texts: ShownText[]): Promise<void>;
  /** Passes due receipts to `handOver` and counts them as sent only if it succeeds. Returns how many there were. */
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

/** A text that the walk of usual receipts has reached. */
interface PassedText extends DueReceipt {
  id: number;
  reports: boolean;
  late: boolean;
}

/** Long enough to observe the status `sent`, short enough not to annoy. */
const receiptAfterMs = 100;
const mostReported = 1000;

const handsetColumns = `id, application_id as "applicationId", recipient as "to", message_id as "messageId", attempt,
  received_at as "receivedAtMs"`;

export function createHandsets(database: Database, clock: Clock): Handsets {
  return {
    async receive(texts) {
      const nowMs = clock.nowMs();
      const special = texts.some((text) => text.receiptLaterMs > 0 || isDelayed(text, nowMs));
      const values = usualParameters(texts, nowMs);
      if (special) await database.query(insertSpecialTexts, [...values, ...specialParameters(texts, nowMs)]);
      else await database.query(insertTexts, values);
    },

    async show(tx, shown) {
      const nowMs = clock.nowMs();
      const texts = shown.map((text) => ({ ...text, attempt: 0, delivered: true, receiptLaterMs: 0 }));
      await tx.query(insertShownTexts, [...usualParameters(texts, nowMs), ...specialParameters(texts, nowMs)]);
    },

    reportDue: async (handOver) => {
      const nowMs = clock.nowMs();
      const times = [toTimestamp(nowMs - receiptAfterMs), toTimestamp(nowMs)];
      const { rows: found } = await database.query<{ due: boolean }>(isAnyDue, times);
      if (found[0]?.due !== true) return 0;
      return database.transaction(async (tx: Tx) => {
        const { rows: usual } = await tx.query<PassedText>(selectUsual, [times[0], mostReported]);
        const last = usual.at(-1);
        if (last !== undefined) await tx.query('update handset_report set reported = $1', [last.id]);
        const { rows: late } = await tx.query<DueReceipt>(takeLate, [times[1], mostReported]);
        const due = [...late, ...usual.filter(({ reports, late }) => reports && !late)].map(
          ({ messageId, attempt, to, delivered, error = null }) => ({
            messageId: fromUuid('msg', messageId),
            attempt,
            to,
            delivered,
            error,
          }),
        );
        if (due.length > 0) await handOver(due);
        return late.length + usual.length;
      });
    },

    async list({ applicationId, to, before, limit }) {
      // Postgres rejects NUL in a parameter, and no row contains one.
      if (to?.includes('\0')) return [];
      const values: unknown[] = [uuidOf(applicationId), limit];
      const conditions = ['application_id = $1', 'delivered'];
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
      return rows.map(toText);
    },

    async listAfter(id) {
      const { rows } = await database.query<HandsetText>(selectAfter, [id]);
      return rows.map(toText);
    },

    async listMissed({ applicationId, to, after, limit }) {
      if (to?.includes('\0')) return [];
      const values = [uuidOf(applicationId), after, to ?? null, limit];
      const { rows } = await database.query<HandsetText>(selectMissed, values);
      return rows.map(toText).reverse();
    },

    async newestId() {
      const { rows } = await database.query<{ id: number | null }>('select max(id) as id from handset_text');
      return rows[0]?.id ?? 0;
    },
  };
}

/** The row has uuids where the API has ids. */
function toText(row: HandsetText): HandsetText {
  return {
    ...row,
    applicationId: fromUuid('app', row.applicationId),
    messageId: fromUuid('msg', row.messageId),
  };
}

/** A text that was sent late must be kept longer than its neighbours in the order of arrival, so it is stored apart. */
function isDelayed({ messageId }: ArrivingText, nowMs: number): boolean {
  return nowMs - idTimeMs(messageId) > minuteMs;
}

function usualParameters(texts: ArrivingText[], nowMs: number): unknown[] {
  return [
    texts.map(({ applicationId }) => uuidOf(applicationId)),
    texts.map(({ to }) => to),
    texts.map(({ messageId }) => uuidOf(messageId)),
    texts.map(({ attempt }) => attempt),
    texts.map(({ delivered }) => delivered),
    toTimestamp(nowMs),
  ];
}

function specialParameters(texts: ArrivingText[], nowMs: number): unknown[] {
  return [
    texts.map(({ receiptLaterMs }) => laterAt(nowMs, receiptLaterMs)),
    texts.map((text) => isDelayed(text, nowMs)),
    texts.map(({ rings = false }) => rings),
  ];
}

function laterAt(nowMs: number, laterMs: number): string | null {
  return laterMs === 0 ? null : toTimestamp(nowMs + laterMs);
}

/** Deletes some of the arrivals of one number in these applications (uuids). Returns how many. */
export async function deleteArrivalsOf(tx: Tx, applicationIds: string[], number: string): Promise<number> {
  const { count } = await tx.query(
    `delete from handset_text where ctid = any(array(
       select ctid from handset_text where application_id = any($1::uuid[]) and recipient = $2 limit $3))`,
    [applicationIds, number, pieceRows],
  );
  return count;
}

/** Deletes some of the arrivals of messages that were accepted before a time. */
export async function deleteOldArrivals(tx: Tx, beforeMs: number): Promise<number> {
  const { count: usual } = await tx.query(deleteOldest, [uuidFloor(beforeMs), pieceRows]);
  const { count: delayed } = await tx.query(deleteDelayed, [uuidFloor(beforeMs), pieceRows]);
  return usual + delayed;
}

/** Ids are in the order of arrival, so the lowest ones are of the oldest messages. */
const deleteOldest = `delete from handset_text where id in (
    select id from (select id, message_id from handset_text order by id limit $2) oldest where message_id < $1)`;
const deleteDelayed = `with gone as (
      delete from handset_delayed_text where (message_id, handset_text_id) in (
        select message_id, handset_text_id from handset_delayed_text where message_id < $1 order by message_id limit $2)
      returning handset_text_id),
    texts as (delete from handset_text where id in (select handset_text_id from gone))
    select from gone`;

/**
 * The lock makes id order commit order, so a reader that has seen an id has seen all earlier ones. The join draws each
 * id after the lock is taken.
 */
const insertSql = (reports: boolean) => `insert into handset_text
      (application_id, recipient, message_id, attempt, delivered, received_at, reports)
    select application_id, recipient, message_id, attempt, delivered, $6, ${reports}
    from locked cross join unnest($1::uuid[], $2::text[], $3::uuid[], $4::integer[], $5::boolean[])
      as t(application_id, recipient, message_id, attempt, delivered)`;
const lockedSql = `locked as materialized (select pg_advisory_xact_lock(${advisoryLocks.handsets}))`;

const insertTexts = { name: 'insert-handset-texts', text: `with ${lockedSql} ${insertSql(true)}` };

const specialSql = (reports: boolean) =>
  `with ${lockedSql}, arrived as (${insertSql(reports)} returning id, message_id, attempt, delivered),
      special as (
        select * from arrived join unnest($3::uuid[], $4::integer[], $7::timestamptz[], $8::boolean[], $9::boolean[])
          as s(message_id, attempt, due_at, delayed, rings) using (message_id, attempt)),
      noted as (
        insert into handset_delayed_text (message_id, handset_text_id) select message_id, id from special where delayed)
    insert into handset_late_receipt (handset_text_id, message_id, attempt, delivered, due_at, rings)
    select id, message_id, attempt, delivered, due_at, rings from special where due_at is not null`;

const insertSpecialTexts = { name: 'insert-special-handset-texts', text: specialSql(true) };
const insertShownTexts = { name: 'insert-shown-handset-texts', text: specialSql(false) };

/** Most polls find nothing, and need no transaction. */
const isAnyDue = {
  name: 'is-any-handset-receipt-due',
  text: `select exists (select from handset_late_receipt where due_at <= $2)
      or coalesce((select received_at <= $1 from handset_text
        where id > (select reported from handset_report) order by id limit 1), false) as due`,
};

/**
 * Takes only texts that the usual walk has passed: it leaves out texts with a late receipt, but could not once that row is
 * deleted. A call without an answer did not reach the phone.
 */
const takeLate = {
  name: 'take-late-handset-receipts',
  text: `with taken as (
      delete from handset_late_receipt where handset_text_id in (
        select handset_text_id from handset_late_receipt where due_at <= $1
          and handset_text_id <= (select reported from handset_report) order by due_at limit $2 for update skip locked)
      returning handset_text_id as id, message_id, attempt, delivered, rings, error),
    unanswered as (
      update handset_text set delivered = false
      where delivered and id in (select id from taken where rings and not delivered))
    select message_id as "messageId", attempt, delivered, error,
      coalesce((select recipient from handset_text t where t.id = taken.id), '') as "to"
    from taken`,
};

/**
 * Locking the one row makes nodes take turns. Stops at the first text that is not due, even if later ones are, because
 * clocks of nodes differ: the walk never goes back to a text.
 */
const selectUsual = {
  name: 'select-handset-receipts',
  text: `with report as materialized (select reported from handset_report for update),
      next as (
        select t.id, t.recipient, t.message_id, t.attempt, t.delivered, t.received_at, t.reports from handset_text t
        where t.id > (select reported from report) order by t.id limit $2),
      not_due as (select id from next where received_at > $1 order by id limit 1)
    select id, recipient as "to", message_id as "messageId", attempt, delivered, reports,
      exists (select from handset_late_receipt where handset_text_id = next.id) as late
    from next where received_at <= $1 and not exists (select from not_due where not_due.id < next.id) order by id`,
};

const selectAfter = {
  name: 'select-handset-texts-after',
  text: `select ${handsetColumns} from handset_text where id > $1 and delivered order by id limit 1000`,
};

const selectMissed = {
  name: 'select-missed-handset-texts',
  text: `select ${handsetColumns} from handset_text
    where application_id = $1 and id > $2 and ($3::text is null or recipient = $3) and delivered
    order by id desc limit $4`,
};
