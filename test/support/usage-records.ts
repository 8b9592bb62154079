import { apiNames } from '../../src/http/route.ts';
// Records of messages and verifications, what usage says about them, and what it should say.

import { messageStatuses } from '../../src/messages/message.ts';
import { messagesBySteps, summedMessages } from '../../src/messages/message-usage-store.ts';
import { dayMs, toTimestamp } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { deleteSums, sumSome } from '../../src/platform/database/record-sums.ts';
import { fromUuid, uuidFloor, uuidOf, uuidTimeMs } from '../../src/platform/ids.ts';
import type { Span } from '../../src/platform/work/steps.ts';
import type { VerificationStatus } from '../../src/verify/verification.ts';
import { statusCode, statusOf } from '../../src/verify/verification-row.ts';
import { summedVerifications, verificationsBySteps } from '../../src/verify/verification-usage-store.ts';

export const summedTables = [summedMessages, summedVerifications];
export const usageApplications = [1, 2].map((n) => fromUuid('app', uuidFloor(n)));

let made = 0;

/** An id of this time that no other row has. */
function newUuid(madeMs: number): string {
  return uuidFloor(madeMs).slice(0, 24) + (++made).toString(16).padStart(12, '0');
}

function applicationOf(n: number): string {
  return usageApplications[n % usageApplications.length] ?? '';
}

export interface Texts {
  application?: number;
  count?: number;
  /** Its place in `apiNames`. */
  api?: number;
  segments?: number;
  madeMs: number;
}

export async function insertTexts(database: Database, texts: Texts): Promise<void> {
  const { application = 0, count = 1, api = 0, segments = 1, madeMs } = texts;
  await database.query(
    `insert into message (id, application_id, api, channel, recipient, sender, status, encoding, segment_count, characters,
       remaining, correlation_id, created_at, updated_at, expires_at, carrier)
     select id, $2, $3, 0, '+447700900123', 'ACME', 0, 0, $4, 5, 155, $2, $5, $5, $5, 'test' from unnest($1::uuid[]) as i(id)`,
    [
      Array.from({ length: count }, () => newUuid(madeMs)),
      uuidOf(applicationOf(application)),
      api,
      segments,
      toTimestamp(madeMs),
    ],
  );
}

export interface Started {
  application?: number;
  madeMs: number;
  ttlMs?: number;
  status?: VerificationStatus;
}

export async function insertVerification(database: Database, started: Started): Promise<void> {
  const { application = 0, madeMs, ttlMs = 600_000, status = 'pending' } = started;
  await database.query(
    `insert into verification (id, application_id, channel, recipient, status, code_length, ring_version, test_number,
       max_attempts, sends, correlation_id, text_ids, created_at, updated_at, expires_at)
     values ($1, $2, 0, '+447700900123', $3, 6, 1, false, 5, 1, $1, '{}', $4, $4, $5)`,
    [
      newUuid(madeMs),
      uuidOf(applicationOf(application)),
      statusCode(status),
      toTimestamp(madeMs),
      toTimestamp(madeMs + ttlMs),
    ],
  );
}

export type Counted = Record<string, { count: number; segments: number }>;

function add(counted: Counted, key: string, count: number, segments = 0): void {
  const before = counted[key] ?? { count: 0, segments: 0 };
  counted[key] = { count: before.count + count, segments: before.segments + segments };
}

/** What a caller may rely on at any moment: by API and step, and how many verifications were approved or blocked. */
export async function readExact(database: Database, span: Span, nowMs: number): Promise<Counted> {
  const counted: Counted = {};
  for (const { api, step, count, segments } of await messagesBySteps(database, span, nowMs)) {
    add(counted, `${api} ${step}`, count, segments);
  }
  for (const { step, status, count } of await verificationsBySteps(database, span, nowMs)) {
    addVerifications(counted, step, status, count);
  }
  return counted;
}

function addVerifications(counted: Counted, step: number, status: string, count: number): void {
  add(counted, `verifications ${step}`, count);
  if (status === 'approved' || status === 'blocked') add(counted, `${status} ${step}`, count);
}

/** The same, from the records themselves. */
export async function countExact(database: Database, span: Span): Promise<Counted> {
  const counted: Counted = {};
  const stepOf = (id: string) => Math.floor(uuidTimeMs(id) / span.stepMs);
  for (const { id, api, segments } of await recordsOf(database, 'message', span)) {
    add(counted, `${apiNames[api]} ${stepOf(id)}`, 1, segments);
  }
  for (const { id, status } of await recordsOf(database, 'verification', span)) {
    addVerifications(counted, stepOf(id), statusOf(status), 1);
  }
  return counted;
}

interface Recorded {
  id: string;
  api: number;
  status: number;
  segments: number;
}

async function recordsOf(database: Database, table: 'message' | 'verification', span: Span): Promise<Recorded[]> {
  const columns = table === 'message' ? 'api, segment_count as segments' : '0 as api, 0 as segments';
  const { rows } = await database.query<Recorded>(
    `select id, status, ${columns} from ${table} where application_id = $1 and id >= $2 and id < $3`,
    [uuidOf(span.applicationId), uuidFloor(span.fromMs), uuidFloor(span.toMs)],
  );
  return rows;
}

/** The states, which may lag behind for older records. */
export async function readStates(database: Database, span: Span, nowMs: number): Promise<Counted> {
  const states: Counted = {};
  for (const { status, count } of await messagesBySteps(database, span, nowMs)) add(states, `text ${status}`, count);
  for (const { status, count } of await verificationsBySteps(database, span, nowMs)) add(states, status, count);
  return states;
}

/** What the records say, when all verifications have lapsed. */
export async function countStates(database: Database, span: Span): Promise<Counted> {
  const states: Counted = {};
  for (const { status } of await recordsOf(database, 'message', span))
    add(states, `text ${messageStatuses[status]}`, 1);
  for (const { status } of await recordsOf(database, 'verification', span)) {
    add(states, statusOf(status) === 'pending' ? 'expired' : statusOf(status), 1);
  }
  return states;
}

/** This many whole steps, from the one that holds this time. */
export function usageSpan(application: number, stepMs: number, atMs: number, steps: number): Span {
  const fromMs = Math.floor(atMs / stepMs) * stepMs;
  return { applicationId: applicationOf(application), fromMs, toMs: fromMs + steps * stepMs, stepMs };
}

export async function sumAll(database: Database, nowMs: number, limit?: number): Promise<void> {
  for (const summed of summedTables) while ((await sumSome(database, summed, nowMs, limit)) > 0);
}

export async function deleteAllNeedless(database: Database, nowMs: number, keepDays = 365): Promise<void> {
  for (const summed of summedTables) {
    while ((await deleteSums(database, summed, nowMs, nowMs - keepDays * dayMs)) > 0);
  }
}

export async function emptyRecords(database: Database): Promise<void> {
  await database.query('truncate message, verification, message_sum, verification_sum, walk');
}
