import { typeCode } from '../events/event.ts';
import { insertEvents } from '../events/event-inserts.ts';
import { apiNames } from '../http/route.ts';
import { type Clock, toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { newId, uuidOf } from '../platform/ids.ts';
import { toOptOutRecord } from './inbound-record.ts';
import { type Notified, type OptOut, optOutSources, scopeKinds } from './opt-out.ts';
import type { HashedNumber } from './opt-out-store.ts';

/** An opt-out as the application sees it. */
export type ShownOptOut = Pick<OptOut, 'number' | 'source' | 'word' | 'createdAtMs'>;

export interface PutOptOut {
  notified: Notified;
  number: string;
  hashed: HashedNumber;
}

interface KnownRow {
  index: number;
  source: number;
  word: string | null;
  createdAtMs: number;
}

/**
 * Opts numbers out of applications, each pair once. An existing opt-out of any source stays; a new one emits an event.
 * Returns the opt-outs as they are afterwards. The caller has locked the numbers.
 */
export async function putOwnOptOuts(tx: Tx, puts: readonly PutOptOut[], clock: Clock): Promise<ShownOptOut[]> {
  const nowMs = clock.nowMs();
  const made = puts.map(({ number }): ShownOptOut => ({ number, source: 'api', word: null, createdAtMs: nowMs }));
  const hashes = puts.flatMap(({ hashed }, index) => hashed.all.map((hash) => ({ index, hash })));
  const { rows } = await tx.query<KnownRow>(putStatement, [
    hashes.map(({ index }) => index),
    hashes.map(({ hash }) => hash),
    puts.map(({ notified }) => notified.applicationId),
    puts.map(({ notified }) => uuidOf(notified.applicationId)),
    puts.map(({ notified }) => apiNames.indexOf(notified.api)),
    puts.map(({ hashed }) => hashed.newest),
    puts.map(({ number }) => number),
    puts.map(() => uuidOf(newId('opt', clock))),
    puts.map(() => uuidOf(newId('opt', clock))),
    made.map((optOut) => JSON.stringify(toOptOutRecord(optOut))),
    toTimestamp(nowMs),
  ]);
  const known = new Map(rows.map((row) => [row.index, row]));
  return made.map((optOut, index) => {
    const row = known.get(index);
    if (row === undefined) return optOut;
    const { source, word, createdAtMs } = row;
    return { number: optOut.number, source: optOutSources[source] ?? 'api', word, createdAtMs };
  });
}

const scope = scopeKinds.indexOf('application');
const byApi = optOutSources.indexOf('api');

const putStatement = {
  name: 'put-own-opt-outs',
  text: `with wanted as (
      select index - 1 as index, subject, application_id, api, hash, number, id, change_id, data
      from unnest($3::text[], $4::uuid[], $5::smallint[], $6::bytea[], $7::text[], $8::uuid[], $9::uuid[], $10::jsonb[])
        with ordinality as w(subject, application_id, api, hash, number, id, change_id, data, index)),
    known as (
      select w.index, o.source, o.word, o.created_at
      from unnest($1::integer[], $2::bytea[]) as h(index, hash) join wanted w on w.index = h.index
      join opt_out o on o.number_hash = h.hash and o.scope = ${scope} and o.subject = w.subject),
    added as (
      insert into opt_out (id, number_hash, scope, subject, application_id, number, source, word, created_at)
      select id, hash, ${scope}, subject, application_id, number, ${byApi}, null, $11::timestamptz from wanted w
      where not exists (select from known k where k.index = w.index)
      order by subject, hash on conflict do nothing returning id),
    noted as (
      insert into opt_out_change (id, number_hash, scope, subject, opted_out, source, word, changed_at)
      select w.change_id, w.hash, ${scope}, w.subject, true, ${byApi}, null, $11::timestamptz
      from added join wanted w using (id)),
    emitted as (${insertEvents(
      `(
      select w.application_id, w.id as subject, $11::timestamptz as time, 1 as sequence,
        ${typeCode('recipient.opted_out')} as type, w.api, w.data
      from added join wanted w using (id))`,
      'data',
    )})
    select index, source, word, created_at as "createdAtMs" from known`,
};
