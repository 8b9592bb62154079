// "Texts and verifications, kill -9 of web and worker processes and a restart of Postgres under load: every change has
// exactly one event; the feed read to its end has each once, in order per subject."
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { eventTypes } from '../../src/events/event.ts';
import { apiNames } from '../../src/http/route.ts';
import { statusCodes } from '../../src/messages/message-row.ts';
import { createDatabase, type Database } from '../../src/platform/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { type Cluster, type ClusterNode, startCluster } from '../support/cluster.ts';
import { inShort } from '../support/effort.ts';
import { checkEvents, watchStates } from '../support/event-witness.ts';
import { type EventsLoad, startEventsLoad } from '../support/events-load.ts';
import { eventually } from '../support/eventually.ts';
import { type FeedReader, startFeedReader } from '../support/feed-reader.ts';
import { createTestLog } from '../support/log.ts';
import { livingPostmaster, makeFolder } from '../support/process.ts';
import { buildService } from '../support/service.ts';

const { log } = createTestLog();
const folder = makeFolder('events');
const count = inShort(1500, 50_000);
const rounds = inShort(1, 5);
const withinMs = inShort(60_000, 600_000);

let postgres: EmbeddedPostgres;
let database: Database;
let cluster: Cluster;
let own: TestApplication;
before(async () => {
  await buildService();
  postgres = await startEmbeddedPostgres({ folder, log });
  const timeouts = { connectMs: 20_000, statementMs: 60_000, transactionMs: 60_000 };
  database = createDatabase({ connection: postgres.connection, log, poolSize: 2, timeouts });
  cluster = await startCluster({
    connection: postgres.connection,
    roles: ['all', 'web', 'worker'],
    env: {
      HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}',
      HELIOGRAPH_GUARD: '{"per_prefix":1000000}',
      HELIOGRAPH_TOKEN_SECONDS: '86400',
      LOG_LEVEL: 'error',
    },
  });
  own = await createRegistered(cluster.nodes[0] as ClusterNode, ['sms', 'verify', 'messaging'], 'enterprise');
  await watchStates(database);
});
after(async () => {
  await cluster.close();
  await database.close();
  await postgres.stop();
});

async function killNode(place: number): Promise<void> {
  const node = cluster.nodes[place] ?? assert.fail('there is no such node');
  node.service.kill('SIGKILL');
  await node.service.ended;
  await pause(300);
  await node.restart();
}

/** It is started again by itself, and recovers. */
async function killPostgres(): Promise<void> {
  const pid = livingPostmaster(join(folder, 'data'));
  assert.ok(pid !== undefined, 'no Postgres runs');
  process.kill(pid, 'SIGKILL');
  const isBack = () =>
    database.query('select 1').then(
      () => true,
      () => false,
    );
  await eventually('Postgres is back', isBack, { withinMs: 60_000, everyMs: 100 });
}

/** Breaks one thing after the other, while the load goes on. */
async function breakThings(load: EventsLoad): Promise<void> {
  const steps = Array.from({ length: rounds }, () => [() => killNode(1), () => killNode(2), killPostgres]).flat();
  for (const [place, step] of steps.entries()) {
    const size = Math.floor((count * (place + 1)) / (steps.length + 2));
    await eventually(`${size} acts are done`, () => load.done() >= size, { withinMs });
    await step();
  }
}

async function untilAllHasEnded(): Promise<void> {
  const open = `select from message where status in (${statusCodes(['queued', 'sent'])}) limit 1`;
  await eventually('every text has ended', async () => (await database.query(open)).count === 0, {
    withinMs,
    everyMs: 200,
  });
}

/** The events of an API as the table has them, in order. */
async function storedOf(api: (typeof apiNames)[number]): Promise<string[]> {
  const { rows } = await database.query<{ subject: string; sequence: number; type: number }>(
    `select subject, sequence, type from event where application_id = $1 and api = $2 order by position`,
    [uuidOf(own.id), apiNames.indexOf(api)],
  );
  return rows.map(({ subject, sequence, type }) => `${subject} ${sequence} ${eventTypes[type]}`);
}

async function checkFeed(reader: FeedReader, stored: string[]): Promise<void> {
  await eventually('the feed is read to its end', () => reader.events.length >= stored.length, { withinMs });
  await reader.stop();
  const read = reader.events.map(({ subject, sequence, type }) => `${uuidOf(subject)} ${sequence} ${type}`);
  assert.equal(new Set(read).size, read.length, 'each event once');
  // Not compared as a whole first: a difference of 50,000 lines is of no use.
  const wrong = stored.findIndex((line, place) => read[place] !== line);
  assert.deepEqual(read.slice(wrong, wrong + 3), stored.slice(wrong, wrong + 3), `the feed differs at ${wrong}`);
  assert.equal(read.length, stored.length);
}

test(`${count} texts and verifications, whose nodes and Postgres are killed`, async (t) => {
  const { nodes } = cluster;
  const first = nodes[0] as ClusterNode;
  const token = bearer(await getToken(first, own.client, 'verify:manage'));
  const web = nodes.slice(0, 2);
  const readers = {
    sms: await startFeedReader(web, { apikey: own.apiKey }),
    verify: await startFeedReader(web, token),
  };
  const load = startEventsLoad({ nodes: web, apiKey: own.apiKey, token, count });
  await breakThings(load);
  await load.finished;
  await untilAllHasEnded();
  const told = await checkEvents(database);
  assert.ok(told > count / 2, `only ${told} events`);
  const { count: wrong } = await database.query(
    `select from message m where api <> $1 and sequence <> (select count(*) from event e where e.subject = m.id)`,
    [apiNames.indexOf('verify')],
  );
  assert.equal(wrong, 0, 'records whose sequence is not the number of their events');
  for (const api of ['sms', 'verify'] as const) await checkFeed(readers[api], await storedOf(api));
  const { rows } = await database.query<{ type: number; events: number }>(
    'select type, count(*)::integer as events from event group by type order by type',
  );
  t.diagnostic(
    `${told} events: ${rows.map(({ type, events }) => `${eventTypes[type]} ${events}`).join(', ')}; ` +
      `${load.lost()} requests without an answer, ${readers.sms.lost() + readers.verify.lost()} reads of the feed`,
  );
});
