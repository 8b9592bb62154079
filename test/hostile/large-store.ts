// A store as it is after years of use, or after an attack: millions of rows that are over, and many of one caller.
import { systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { idFloor, uuidFloor, uuidOf } from '../../src/platform/ids.ts';
import type { SandboxCredentials } from '../../src/registry/demo-applications.ts';
import { statusCode } from '../../src/verify/verification-row.ts';
import { startService } from '../support/service.ts';

export interface Amounts {
  /** Each of: old changes of the registry, outlived throttle rows, outlived revocations. */
  old: number;
  verificationsOfOneNumber: number;
  lapsed: number;
  applications: number;
  messages: number;
}

/** The number with the most verifications. */
export const busyNumber = '+447700900555';

/** What a service needs so that no plan and no address limit stands before the work that is measured. */
export const withoutLimits = {
  HELIOGRAPH_PLANS: JSON.stringify({
    free: { per_minute: 1_000_000, burst: 1_000_000 },
    enterprise: { per_minute: 1_000_000, burst: 1_000_000 },
  }),
  HELIOGRAPH_ADDRESS_PER_MINUTE: '1000000',
  HELIOGRAPH_ADDRESS_BURST: '1000000',
  HELIOGRAPH_PASSWORD_PER_MINUTE: '10000',
  LOG_LEVEL: 'error',
};

/** Starts a service once, so that its demo applications are there, and stops it. */
export async function firstStart(env: Record<string, string>): Promise<string> {
  const service = await startService({ env });
  await service.ready;
  service.kill('SIGTERM');
  await service.ended;
  return service.dataDir;
}

/** Fills the store of a service that is not running. Everything heavy belongs to the Free demo application. */
export async function fill(database: Database, credentials: SandboxCredentials, amounts: Amounts): Promise<void> {
  const free = credentials.applications.find(({ plan }) => plan === 'free')?.application_id ?? '';
  const nowMs = systemClock.nowMs();
  await database.query(
    `insert into registry_change select nextval('registry_change_seq'), $1, now() - interval '2 days'
     from generate_series(1, $2::integer) n`,
    [free, amounts.old],
  );
  await database.query(
    `insert into sign_in_throttle select decode(md5(n::text), 'hex'), 1, now() - interval '3 days', now() - interval '3 days'
     from generate_series(1, $1::integer) n`,
    [amounts.old],
  );
  await database.query(
    `insert into token_revocation select 'old-' || n, now() - interval '2 days' from generate_series(1, $1::integer) n`,
    [amounts.old],
  );
  await addVerifications(database, free, {
    count: amounts.verificationsOfOneNumber,
    recipient: `'${busyNumber}'`,
    status: 'canceled',
    firstId: uuidFloor(nowMs - 3_600_000),
  });
  await addVerifications(database, free, {
    count: amounts.lapsed,
    recipient: "'+4479' || lpad(n::text, 8, '0')",
    status: 'pending',
    firstId: uuidFloor(nowMs - 1_800_000),
  });
  await database.query(
    `insert into application (id, account_id, name, created_at, updated_at)
     select $1 || lpad(n::text, 16, '0'), (select account_id from application where id = $2), 'Old', now(), now()
     from generate_series(1, $3::integer) n`,
    [idFloor('app', nowMs - 7_200_000).slice(0, 14), free, amounts.applications],
  );
  await addMessages(database, free, amounts.messages, uuidFloor(nowMs - 1_800_000).slice(0, 24));
}

async function addVerifications(
  database: Database,
  applicationId: string,
  rows: { count: number; recipient: string; status: 'canceled' | 'pending'; firstId: string },
): Promise<void> {
  const narrow =
    rows.status === 'pending'
      ? `pending_verification (verification_id, application_id, expires_at, lifetime_seconds, recipient)
         select id, application_id, now() - interval '20 minutes', 600, recipient from r`
      : `ended_verification (verification_id, application_id, status, recipient)
         select id, application_id, ${statusCode(rows.status)}, recipient from r`;
  await database.query(
    `with r as materialized (
       select (left($1, 24) || lpad(to_hex(n), 12, '0'))::uuid as id, $2::uuid as application_id, ${rows.recipient} as recipient
       from generate_series(1, $3::integer) n),
     record as (
       insert into verification (id, application_id, channel, recipient, status, code_length, ring_version, test_number,
         max_attempts, sends, correlation_id, text_ids, created_at, updated_at, expires_at)
       select id, application_id, 0, recipient, ${statusCode(rows.status)}, 6, 1, false, 5, 1, id, '{}',
         now() - interval '30 minutes', now() - interval '30 minutes', now() - interval '20 minutes' from r)
     insert into ${narrow}`,
    [rows.firstId, uuidOf(applicationId), rows.count],
  );
}

async function addMessages(database: Database, applicationId: string, count: number, id: string): Promise<void> {
  await database.query(
    `insert into message (id, application_id, api, channel, recipient, sender, body, status, encoding, segment_count,
       characters, remaining, correlation_id, created_at, updated_at, expires_at, carrier)
     select ($1 || lpad(n::text, 12, '0'))::uuid, $2, 0, 0, '${busyNumber}', 'ACME', 'Hello', 3, 0, 1, 5, 155,
       $2, now() - interval '30 minutes', now() - interval '30 minutes', now(), 'sandbox'
     from generate_series(1, $3::integer) n`,
    [id, uuidOf(applicationId), count],
  );
}
