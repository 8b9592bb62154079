import assert from 'node:assert/strict';
import { eventTypes } from '../../src/events/event.ts';
import { apiNames } from '../../src/http/route.ts';
import { statusCode, statusCodes } from '../../src/messages/message-row.ts';
import { advisoryLocks } from '../../src/platform/database/advisory-locks.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { statusCode as verificationStatusCode } from '../../src/verify/verification-row.ts';
import { bearer } from './applications.ts';
import { checkEvents } from './event-witness.ts';
import { eventually } from './eventually.ts';
import { tellFigure } from './figures.ts';
import type { HaWorld } from './ha-world.ts';

const withinMs = 240_000;

/** Ends the load, and holds what was answered against what there is. */
export async function assertKept(world: HaWorld): Promise<void> {
  const { postgres, load, callers } = world;
  await callers.stop();
  await load.stop();
  await postgres.whole();
  const member = (await postgres.primary()) ?? assert.fail('there is no primary');
  await postgres.inDatabase(member, 'heliograph', async (database) => {
    await world.witness.assertKept(database);
    await untilAllIsDelivered(database);
    await assertTexts(world, database);
    await assertVerifications(world, database);
    await assertDead(world);
    await assertEvents(world, database);
    await assertSessions(world, database);
  });
  const unknown = load.history.entries.filter(({ outcome }) => outcome === 'unknown').length;
  tellFigure(
    `${load.history.entries.length} requests, ${unknown} of them 503 or without an answer; ${load.sent.size} texts, ` +
      `${load.approvals.size} verifications, ${callers.wrong.size} with wrong codes, ${load.revoked} revocations, ` +
      `${callers.deleted.length} deleted keys, ${callers.refused()} tries with dead credentials: nothing answered was lost`,
  );
}

async function untilAllIsDelivered(database: Database): Promise<void> {
  const open = `select from message where status in (${statusCodes(['scheduled', 'queued', 'sent'])}) limit 1`;
  const isOver = async () => (await database.query(open)).count === 0;
  await eventually('everything is delivered', isOver, { withinMs, everyMs: 300 });
}

interface TextRow {
  id: string;
  reference: string;
  status: number;
  marks: number;
  arrivals: number;
}

/** Each is there once, has its receipt, and what arrived twice is marked. */
async function assertTexts({ load, own }: HaWorld, database: Database): Promise<void> {
  const { rows } = await database.query<TextRow>(
    `select m.id, m.reference, m.status, m.possible_duplicates as marks, count(h.id)::integer as arrivals
     from message m left join handset_text h on h.message_id = m.id
     where m.application_id = $1 and m.reference is not null group by m.id, m.reference, m.status, m.possible_duplicates`,
    [uuidOf(own.id)],
  );
  const byKey = new Map(rows.map((row) => [row.reference, row]));
  assert.equal(byKey.size, rows.length, 'one key, two texts');
  for (const [key, id] of load.sent) assert.equal(byKey.get(key)?.id, uuidOf(id), `a text is lost: ${key}`);
  for (const { reference, status, marks, arrivals } of rows) {
    assert.equal(status, statusCode('delivered'), `no receipt: ${reference}`);
    assert.ok(arrivals >= 1 && arrivals - 1 <= marks, `${reference}: ${arrivals} arrivals, ${marks} marked`);
  }
}

async function assertVerifications({ load, callers }: HaWorld, database: Database): Promise<void> {
  const approvals = [...load.approvals];
  const twice = approvals.filter(([, count]) => count > 1);
  assert.deepEqual(twice, [], 'approved twice');
  const { rows: lost } = await database.query(
    `select id from verification where status <> ${verificationStatusCode('approved')} and id = any($1)`,
    [approvals.filter(([, count]) => count === 1).map(([id]) => uuidOf(id))],
  );
  assert.deepEqual(lost, [], 'answered as approved, and not so');
  const { rows } = await database.query<{ id: string; attempts: number }>(
    'select id, attempts from verification where id = any($1)',
    [[...callers.wrong.keys()].map(uuidOf)],
  );
  const spent = new Map(rows.map(({ id, attempts }) => [id, attempts]));
  for (const [id, count] of callers.wrong) assert.ok((spent.get(uuidOf(id)) ?? 0) >= count, `a try is lost: ${id}`);
}

/** What was revoked or deleted stays so, at every node. */
async function assertDead({ nodes, load, callers }: HaWorld): Promise<void> {
  for (const { url } of nodes) {
    for (const token of load.revokedTokens.slice(-200)) {
      const body = JSON.stringify({ from: 'ACME', message: 'Hello' });
      const headers = { ...bearer(token), 'Content-Type': 'application/json' };
      const { status } = await fetch(`${url}/messaging/v1/messages/preview`, { method: 'POST', headers, body });
      assert.equal(status, 401, 'a revoked token was admitted');
    }
    for (const key of callers.deleted.slice(-200)) {
      const { status } = await fetch(`${url}/sms/v1/messages?limit=1`, { headers: { apikey: key } });
      assert.equal(status, 401, 'a deleted key was admitted');
    }
  }
}

interface EventRow {
  subject: string;
  sequence: number;
  type: number;
  api: number;
}

/** Each change has one event; the reader that never stopped has each of them once and in order, the webhook at least once. */
async function assertEvents({ own, reader, receiver }: HaWorld, database: Database): Promise<void> {
  await checkEvents(database);
  const { rows } = await database.query<EventRow>(
    'select subject, sequence, type, api from event where application_id = $1 order by position',
    [uuidOf(own.id)],
  );
  const line = ({ subject, sequence, type }: EventRow) => `${subject} ${sequence} ${eventTypes[type]}`;
  const stored = rows.filter(({ api }) => api === apiNames.indexOf('sms')).map(line);
  await eventually('the feed is read to its end', () => reader.events.length >= stored.length, { withinMs });
  await reader.stop();
  const read = reader.events.map(({ subject, sequence, type }) => `${uuidOf(subject)} ${sequence} ${type}`);
  const wrong = stored.findIndex((each, place) => read[place] !== each);
  assert.deepEqual(read.slice(wrong, wrong + 3), stored.slice(wrong, wrong + 3), `the feed differs at ${wrong}`);
  assert.equal(read.length, stored.length);
  const seen = new Set<string>();
  let looked = 0;
  const hasAll = () => {
    for (; looked < receiver.calls.length; looked++) {
      const event = receiver.calls[looked]?.event ?? assert.fail();
      seen.add(`${uuidOf(event.subject)} ${event.sequence} ${event.type}`);
    }
    return seen.size >= rows.length;
  };
  await eventually('the webhook has every event', hasAll, { withinMs, everyMs: 500 });
  assert.deepEqual(
    rows
      .map(line)
      .filter((each) => !seen.has(each))
      .slice(0, 3),
    [],
    'events that the webhook lacks',
  );
  tellFigure(`${rows.length} events, ${receiver.calls.length} calls of the webhook: one for each change, in order`);
}

/** Both nodes hold their lock and listen at the primary of now. */
async function assertSessions({ nodes }: HaWorld, database: Database): Promise<void> {
  const { rows } = await database.query<{ holders: number; listeners: number }>(
    `select (select count(distinct pid)::integer from pg_locks where locktype = 'advisory' and granted
         and mode = 'ShareLock' and objid = $1) as holders,
       (select count(*)::integer from pg_stat_activity where query ilike 'listen heliograph_registry%') as listeners`,
    [advisoryLocks.node],
  );
  const { holders = 0, listeners = 0 } = rows[0] ?? {};
  assert.equal(holders, nodes.length, 'each node holds its lock');
  assert.ok(listeners >= nodes.length, `${listeners} listen`);
}
