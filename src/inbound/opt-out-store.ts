import { typeCode } from '../events/event.ts';
import { insertEvents } from '../events/event-inserts.ts';
import type { PageRequest } from '../http/list-page.ts';
import { type Api, apiNames } from '../http/route.ts';
import { type Clock, toTimestamp } from '../platform/clock.ts';
import { lockSeeds } from '../platform/database/advisory-locks.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, newId, uuidOf } from '../platform/ids.ts';
import { toOptOutRecord } from './inbound-record.ts';
import {
  type NotifiedScope,
  type OptOut,
  type OptOutSource,
  optOutSources,
  type Scope,
  scopeKinds,
} from './opt-out.ts';

/** The hashes under which rows may hold a number. */
export interface HashedNumber {
  newest: Buffer;
  all: Buffer[];
}

/** Requests about one number run one after the other. The sorted order prevents deadlocks. */
export async function lockNumbers(tx: Tx, numbers: readonly string[]): Promise<void> {
  if (numbers.length > 0) await tx.query(lockStatement, [numbers]);
}

const lockStatement = `select pg_advisory_xact_lock(hashtextextended(number, ${lockSeeds.optOuts}))
    from (select distinct number from unnest($1::text[]) as n(number) order by number) n`;

export interface NewOptOut {
  number: string;
  hashed: HashedNumber;
  scopes: NotifiedScope[];
  source: OptOutSource;
  word: string | null;
}

/**
 * Opts a number out and emits an event for each new opt-out. An existing opt-out stays, unless it is the application's
 * own: another source replaces that, so that the application can no longer undo it. Returns how many scopes changed.
 */
export async function addOptOuts(tx: Tx, { number, hashed, scopes, source, word }: NewOptOut, clock: Clock) {
  const nowMs = clock.nowMs();
  const { rows } = await tx.query<{ changed: number }>(addStatement, [
    ...scopeColumns(scopes),
    hashed.all,
    hashed.newest,
    number,
    optOutSources.indexOf(source),
    word,
    toTimestamp(nowMs),
    scopes.map(() => uuidOf(newId('opt', clock))),
    scopes.map(() => uuidOf(newId('opt', clock))),
    scopes.map(({ notified }) => notified && uuidOf(notified.applicationId)),
    scopes.map(({ notified }) => notified && apiNames.indexOf(notified.api)),
    JSON.stringify(toOptOutRecord({ number, source, word, createdAtMs: nowMs })),
  ]);
  return rows[0]?.changed ?? 0;
}

function scopeColumns(scopes: Scope[]): unknown[] {
  return [scopes.map(({ kind }) => scopeKinds.indexOf(kind)), scopes.map(({ subject }) => subject)];
}

const byApi = optOutSources.indexOf('api');

const addStatement = {
  name: 'add-opt-outs',
  text: `with wanted as (
      select * from unnest($1::smallint[], $2::text[], $9::uuid[], $10::uuid[], $11::uuid[], $12::smallint[])
        as w(scope, subject, id, change_id, application_id, api)),
    known as (
      select o.id, o.source, w.scope, w.subject, w.change_id from wanted w join opt_out o
        on o.number_hash = any($3::bytea[]) and o.scope = w.scope and o.subject = w.subject
      order by o.id for update of o),
    raised as (
      update opt_out o set source = $6, word = $7, created_at = $8 from known k
      where o.id = k.id and k.source = ${byApi} and $6::smallint <> ${byApi}
      returning k.scope, k.subject, k.change_id),
    added as (
      insert into opt_out (id, number_hash, scope, subject, application_id, number, source, word, created_at)
      select id, $4, scope, subject, application_id, $5, $6, $7, $8 from wanted w
      where not exists (select from known k where k.scope = w.scope and k.subject = w.subject)
      order by scope, subject on conflict do nothing returning scope, subject),
    changed as (
      select scope, subject, change_id from raised
      union all select w.scope, w.subject, w.change_id from added join wanted w using (scope, subject)),
    noted as (
      insert into opt_out_change (id, number_hash, scope, subject, opted_out, source, word, changed_at)
      select change_id, $4, scope, subject, true, $6, $7, $8 from changed),
    emitted as (${insertEvents(
      `(
      select w.application_id, w.id as subject, $8::timestamptz as time, 1 as sequence,
        ${typeCode('recipient.opted_out')} as type, w.api, $13::jsonb as data
      from added join wanted w using (scope, subject) where w.application_id is not null)`,
      'data',
    )})
    select count(*) as changed from changed`,
};

export interface EndedOptOut {
  hashed: HashedNumber;
  number: string;
  /** Null: all of them. */
  scopes: Scope[] | null;
  /** The API whose events report it to an application. */
  apiOf: (applicationId: string) => Api;
  /** Only opt-outs of this source. */
  only?: OptOutSource;
  source: OptOutSource;
  word: string | null;
  reason?: string;
  accountId?: string;
}

interface EndedRow {
  id: string;
  scope: number;
  subject: string;
  applicationId: string | null;
  source: number;
  word: string | null;
  createdAtMs: number;
}

/**
 * Opts a number back in, and emits an event to the applications that got one for the opt-out. Returns how many scopes
 * changed.
 */
export async function endOptOuts(tx: Tx, ended: EndedOptOut, clock: Clock): Promise<number> {
  const { hashed, scopes, only, source, word, reason = null, accountId = null } = ended;
  const { rows } = await tx.query<EndedRow>(endStatement, [
    hashed.all,
    scopes === null,
    ...scopeColumns(scopes ?? []),
    only === undefined ? null : optOutSources.indexOf(only),
  ]);
  if (rows.length === 0) return 0;
  await tx.query(noteEndStatement, [
    rows.map(() => uuidOf(newId('opt', clock))),
    rows.map(({ scope }) => scope),
    rows.map(({ subject }) => subject),
    hashed.newest,
    optOutSources.indexOf(source),
    word,
    reason,
    accountId,
    toTimestamp(clock.nowMs()),
    rows.map(({ id }) => id),
    rows.map(({ applicationId }) => applicationId),
    rows.map(({ applicationId }) => applicationId && apiNames.indexOf(ended.apiOf(fromUuid('app', applicationId)))),
    rows.map((row) => JSON.stringify(toOptOutRecord({ ...row, number: ended.number, source: sourceOf(row.source) }))),
  ]);
  return rows.length;
}

const endStatement = `delete from opt_out o where number_hash = any($1::bytea[])
    and ($2::boolean or (scope, subject) in (select * from unnest($3::smallint[], $4::text[])))
    and ($5::smallint is null or source = $5)
    returning id, scope, subject, application_id as "applicationId", source, word, created_at as "createdAtMs"`;

const noteEndStatement = `with e as (
      select * from unnest($1::uuid[], $2::smallint[], $3::text[], $10::uuid[], $11::uuid[], $12::smallint[], $13::jsonb[])
        as e(change_id, scope, subject, id, application_id, api, data)),
    noted as (
      insert into opt_out_change
        (id, number_hash, scope, subject, opted_out, source, word, reason, account_id, changed_at)
      select change_id, $4, scope, subject, false, $5, $6, $7, $8, $9 from e)
    ${insertEvents(
      `(
      select application_id, id as subject, $9::timestamptz as time, 2 as sequence,
        ${typeCode('recipient.opted_in')} as type, api, data
      from e where application_id is not null)`,
      'data',
    )}`;

interface OptOutRow {
  id: string;
  scope: number;
  subject: string;
  number: string;
  source: number;
  word: string | null;
  createdAtMs: number;
}

const columns = 'id, scope, subject, number, source, word, created_at as "createdAtMs"';

export interface OptOutFilter {
  scope?: Scope | undefined;
  /** The hashes of one number. */
  hashes?: Buffer[] | undefined;
}

/** Newest first. */
export async function listOptOuts(tx: Tx, filter: OptOutFilter, { limit, after }: PageRequest): Promise<OptOut[]> {
  const values: unknown[] = [limit];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['true'];
  const { scope, hashes } = filter;
  if (scope !== undefined)
    conditions.push(`scope = ${bind(scopeKinds.indexOf(scope.kind))} and subject = ${bind(scope.subject)}`);
  if (hashes !== undefined) conditions.push(`number_hash = any(${bind(hashes)}::bytea[])`);
  if (after !== undefined) conditions.push(`id < ${bind(uuidOf(after))}`);
  const { rows } = await tx.query<OptOutRow>(
    `select ${columns} from opt_out where ${conditions.join(' and ')} order by id desc limit $1`,
    values,
  );
  return rows.map(toOptOut);
}

function toOptOut({ id, scope, source, ...rest }: OptOutRow): OptOut {
  return {
    ...rest,
    id: fromUuid('opt', id),
    kind: scopeKinds[scope] ?? 'sender',
    source: sourceOf(source),
  };
}

function sourceOf(code: number): OptOutSource {
  return optOutSources[code] ?? 'mo';
}

/** A text to check: one row for each hash of its number. */
export interface AskedText {
  id: string;
  hash: Buffer;
  sender: string;
  application: string;
}

/** The ids of texts (uuids) whose number has opted out of their sender or application, except for our own answers. */
export async function findUnwanted(tx: Tx, texts: AskedText[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(unwantedStatement, [
    texts.map(({ id }) => id),
    texts.map(({ hash }) => hash),
    texts.map(({ sender }) => sender),
    texts.map(({ application }) => application),
  ]);
  return rows.map(({ id }) => id);
}

const unwantedStatement = {
  name: 'find-unwanted-texts',
  text: `select distinct t.id
    from unnest($1::uuid[], $2::bytea[], $3::text[], $4::text[]) as t(id, hash, sender, application)
    cross join lateral (values (0, t.sender), (1, t.application)) as s(scope, subject)
    join opt_out o on o.number_hash = t.hash and o.scope = s.scope and o.subject = s.subject
    where not exists (select from automatic_reply r where r.message_id = t.id)`,
};
