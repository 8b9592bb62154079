import { maskInEvents } from '../events/event-store.ts';
import { maskNumber } from '../messages/numbers/phone-number.ts';
import { type Clock, dayMs, toTimestamp } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { readWalk, writeWalk } from '../platform/database/walk.ts';
import { uuidFloor } from '../platform/ids.ts';
import { pieceRows } from '../platform/work/maintenance.ts';
import { createNumberHashes } from './opt-out.ts';
import { deletePartsFrom } from './part-store.ts';

/** Masks the numbers of people who texted us or opted out, after the retention time or on request. */
export interface InboundRetention {
  /** Each call handles one batch, and returns how many rows it read; 0 when it is done. */
  maskTexts(): Promise<number>;
  maskOptOuts(): Promise<number>;
  maskEvents(): Promise<number>;
  deleteTexts(): Promise<number>;
  deleteSeen(): Promise<number>;
  /** Masks everything about one number. Its opt-outs stay, as hashes. Returns the number of texts that had it. */
  forget(number: string): Promise<number>;
}

export interface InboundRetentionOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  retentionDays: number;
  keepDays: number;
}

interface Masked {
  id: string;
  number: string;
}

export function createInboundRetention(options: InboundRetentionOptions): InboundRetention {
  const { database, clock, keys, retentionDays, keepDays } = options;
  const before = (days: number) => uuidFloor(clock.nowMs() - days * dayMs);

  /** Goes through a table once, in the order of its ids. */
  function walkOn(table: keyof typeof maskStatements): Promise<number> {
    const { name, select, update } = maskStatements[table];
    return database.transaction(async (tx) => {
      const done = await readWalk(tx, name);
      const { rows } = await tx.query<Masked>(select, [done, before(retentionDays), pieceRows]);
      const last = rows.at(-1);
      if (last === undefined) return 0;
      await mask(tx, update, rows);
      await writeWalk(tx, name, last.id);
      return rows.length;
    });
  }

  async function mask(tx: Tx, update: string, rows: Masked[]): Promise<void> {
    await tx.query(update, [rows.map(({ id }) => id), rows.map(({ number }) => maskNumber(number))]);
  }

  async function deletePiece(statement: string, limit: string): Promise<number> {
    return (await database.query(statement, [limit, pieceRows])).count;
  }

  return {
    maskTexts: () => walkOn('texts'),
    maskOptOuts: () => walkOn('optOuts'),
    maskEvents: () => maskInEvents(database, { beforeMs: clock.nowMs() - retentionDays * dayMs }, maskNumber),
    deleteTexts: () => deletePiece(deleteTextsStatement, before(keepDays)),
    deleteSeen: () => deletePiece(deleteSeenStatement, toTimestamp(clock.nowMs())),

    async forget(number) {
      await deletePartsFrom(database, number);
      while ((await maskInEvents(database, { number }, maskNumber)) > 0);
      await database.query('update opt_out set number = $2 where number_hash = any($1::bytea[])', [
        createNumberHashes(keys).all(number),
        maskNumber(number),
      ]);
      for (let forgotten = 0; ; ) {
        const { rows } = await database.query<Masked>(
          'select id, sender as number from inbound_text where sender = $1 order by id limit $2',
          [number, pieceRows],
        );
        if (rows.length === 0) return forgotten;
        await mask(database, maskStatements.texts.update, rows);
        forgotten += rows.length;
      }
    },
  };
}

const maskStatements = {
  texts: {
    name: 'mask-inbound',
    select: `select id, sender as number from inbound_text where id > $1 and id < $2 order by id limit $3 for update`,
    update: `update inbound_text t set sender = u.masked, body = null
      from unnest($1::uuid[], $2::text[]) as u(id, masked) where t.id = u.id`,
  },
  optOuts: {
    name: 'mask-opt-outs',
    select: `select id, number from opt_out where id > $1 and id < $2 order by id limit $3 for update`,
    update: `update opt_out o set number = u.masked
      from unnest($1::uuid[], $2::text[]) as u(id, masked) where o.id = u.id`,
  },
};

const deleteTextsStatement = `delete from inbound_text where ctid = any(array(
    select ctid from inbound_text where id < $1 order by id limit $2))`;
const deleteSeenStatement = `delete from inbound_seen where ctid = any(array(
    select ctid from inbound_seen where expires_at <= $1 order by expires_at limit $2))`;
