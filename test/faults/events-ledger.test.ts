// run: with kills, on web processes
// "50,000 texts and verifications, kill -9 of web and worker processes and a restart of Postgres under load, a receiver that
// fails, stalls, answers late and twice: every change has exactly one event; the feed read to its end has each once, in
// order per subject; every webhook arrives at least once; nothing after a DELETE of the endpoint was answered."
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type EmittedEvent, eventTypes } from '../../src/events/event.ts';
import { apiNames, type Scope } from '../../src/http/route.ts';
import { statusCodes } from '../../src/messages/message-row.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { fromUuid, uuidOf } from '../../src/platform/ids.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import type { Cluster, ClusterNode } from '../support/cluster.ts';
import { describeTexts } from '../support/describe-texts.ts';
import { inShort } from '../support/effort.ts';
import { checkEvents, watchStates } from '../support/event-witness.ts';
import { type EventsLoad, startEventsLoad } from '../support/events-load.ts';
import { eventually } from '../support/eventually.ts';
import { type FeedReader, startFeedReader } from '../support/feed-reader.ts';
import { shareMortalCluster } from '../support/mortal-cluster.ts';
import {
  answer,
  createHostileAnswers,
  createWebhookReceiver,
  lateAnswer,
  type ReceivedCall,
  verifies,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts';

const count = inShort(200, 50_000);
const batchSize = inShort(10, 100);
const rounds = 3;
const withinMs = inShort(60_000, 600_000);

let database: Database;
let cluster: Cluster;
let killPostgres: () => Promise<void>;
let own: TestApplication;
before(async () => {
  ({ database, cluster, killPostgres } = await shareMortalCluster(['all', 'web', 'worker']));
  own = await createRegistered(cluster.nodes[0] as ClusterNode, ['sms', 'verify', 'messaging'], 'enterprise');
  await watchStates(database);
});

async function killNode(place: number): Promise<void> {
  const node = cluster.nodes[place] ?? assert.fail('there is no such node');
  node.service.kill('SIGKILL');
  await node.service.ended;
  await pause(300);
  await node.restart();
}

/** Breaks one thing after the other, while the load goes on. */
async function breakThings(load: EventsLoad): Promise<void> {
  const inTurn = [() => killNode(1), () => killNode(2), killPostgres];
  const steps = inShort([() => killNode(1), killPostgres], Array.from({ length: rounds }, () => inTurn).flat());
  for (const [place, step] of steps.entries()) {
    const size = Math.floor((count * (place + 1)) / (steps.length + 2));
    await eventually(`${size} acts are done`, () => load.done() >= size, { withinMs });
    await step();
  }
}

/** Returns whether none is open. Without an answer it is tried again. */
async function cancelOpen({ url }: ClusterNode, headers: Record<string, string>): Promise<boolean> {
  const { rows } = await database.query<{ id: string }>(
    'select verification_id as id from pending_verification where application_id = $1',
    [uuidOf(own.id)],
  );
  for (const { id } of rows) {
    const path = `/verify/v1/verifications/${fromUuid('ver', id)}`;
    await fetch(`${url}${path}`, { method: 'DELETE', headers }).catch(() => undefined);
  }
  return rows.length === 0;
}

/** Nothing changes from here on: every text has its end, and verifications that are left open are canceled. */
async function untilAllHasEnded(node: ClusterNode, headers: Record<string, string>): Promise<void> {
  await eventually('every verification has ended', () => cancelOpen(node, headers), { withinMs, everyMs: 200 });
  const isOver = async () => (await findOpen()).length === 0;
  await eventually('every text has ended', isOver, { withinMs, everyMs: 200 }).catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await describeTexts(database, await findOpen())}`);
  });
}

const openCodes = statusCodes(['queued', 'sent']);

/** Some of the texts that have not ended. */
async function findOpen(): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `select id from message where status in (${openCodes}) limit 5`,
  );
  return rows.map(({ id }) => fromUuid('msg', id));
}

/** The events of an API as the table has them, in order. */
async function storedOf(api: (typeof apiNames)[number]): Promise<string[]> {
  const { rows } = await database.query<{ subject: string; sequence: number; type: number }>(
    `select subject, sequence, type from event where application_id = $1 and api = $2 order by position`,
    [uuidOf(own.id), apiNames.indexOf(api)],
  );
  return rows.map(({ subject, sequence, type }) => `${subject} ${sequence} ${eventTypes[type]}`);
}

/** The sequence of a record is the number of its events. */
async function checkSequences(): Promise<void> {
  const { count: wrong } = await database.query(
    `select from message m where application_id = $1 and api <> $2 and sequence <> (
       select count(*) from event e where e.subject = m.id and e.application_id = m.application_id)`,
    [uuidOf(own.id), apiNames.indexOf('verify')],
  );
  assert.equal(wrong, 0, 'records whose sequence is not the number of their events');
}

async function checkFeed(reader: FeedReader, stored: string[]): Promise<void> {
  await eventually('the feed is read to its end', () => reader.events.length >= stored.length, { withinMs });
  await reader.stop();
  const read = reader.events.map(keyOf);
  assert.equal(new Set(read).size, read.length, 'each event once');
  // Not compared as a whole first: a difference of 50,000 lines is of no use.
  const wrong = stored.findIndex((line, place) => read[place] !== line);
  assert.deepEqual(read.slice(wrong, wrong + 3), stored.slice(wrong, wrong + 3), `the feed differs at ${wrong}`);
  assert.equal(read.length, stored.length);
}

interface Hook {
  id: string;
  secret: string;
}

async function createHook(url: string): Promise<Hook> {
  const path = `/portal/v1/applications/${own.id}/webhooks`;
  const { status, body } = await own.developer.send<Hook>('POST', path, { url });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** Until it is answered: the Postgres may be away. Returns the time of the answer. */
async function deleteHook({ id }: Hook): Promise<number> {
  const path = `/portal/v1/applications/${own.id}/webhooks/${id}`;
  const isGone = async () => {
    const reply = await own.developer.send('DELETE', path).catch(() => undefined);
    return reply?.status === 204 || reply?.status === 404;
  };
  await eventually('the webhook is deleted', isGone, { withinMs: 60_000 });
  return Date.now();
}

const keyOf = ({ subject, sequence, type }: EmittedEvent) => `${uuidOf(subject)} ${sequence} ${type}`;

/** Every event arrived at least once, signed; and each call of an event had the same id and the same body. */
async function checkArrivals({ calls }: WebhookReceiver, { secret }: Hook, stored: string[]): Promise<void> {
  const seen = new Set<string>();
  let looked = 0;
  const hasAll = () => {
    for (; looked < calls.length; looked++) seen.add(keyOf((calls[looked] as ReceivedCall).event));
    return seen.size >= stored.length;
  };
  await eventually('every event has arrived', hasAll, { withinMs, everyMs: 100 });
  assert.deepEqual(stored.filter((line) => !seen.has(line)).slice(0, 3), [], 'events that have not arrived');
  assert.equal(seen.size, stored.length, 'no event was invented');
  const ids = new Map<string, string>();
  for (const call of calls) {
    const key = keyOf(call.event);
    assert.equal(call.headers['webhook-id'], call.event.id);
    assert.equal(ids.get(key) ?? call.event.id, call.event.id, 'an event has one id');
    ids.set(key, call.event.id);
  }
  // Old ones are too old for a receiver that checks the time.
  const last = calls.at(-1) ?? assert.fail('nothing arrived');
  assert.ok(last.atMs < performance.now() - 240_000 || verifies(secret, last), 'the signature is right');
}

/** No attempt began after the answer to the DELETE; attempts say in whole seconds when they began. */
function checkGone({ calls }: WebhookReceiver, deletedAtMs: number): void {
  const late = calls.filter(({ headers }) => Number(headers['webhook-timestamp']) * 1000 > deletedAtMs);
  assert.deepEqual(
    late.map(({ event }) => event.id),
    [],
    'attempts after the answer to DELETE',
  );
}

test(`${count} texts and verifications, whose nodes, Postgres and receivers break`, async (t) => {
  const first = cluster.nodes[0] as ClusterNode;
  const tokenOf = async (scope: Scope) => bearer(await getToken(first, own.client, scope));
  const tokens = { verify: await tokenOf('verify:manage'), messaging: await tokenOf('messaging:send') };
  const web = cluster.nodes.slice(0, 2);
  const receivers = {
    kept: await createWebhookReceiver(createHostileAnswers(inShort(0, 3))),
    gone: await createWebhookReceiver(lateAnswer),
    dead: await createWebhookReceiver(answer(500)),
  };
  t.after(() => Promise.all(Object.values(receivers).map((receiver) => receiver.close())));
  const hooks = {
    kept: await createHook(receivers.kept.url),
    gone: await createHook(receivers.gone.url),
    dead: await createHook(receivers.dead.url),
  };
  const readers = {
    sms: await startFeedReader(web, { apikey: own.apiKey }),
    verify: await startFeedReader(web, tokens.verify),
    messaging: await startFeedReader(web, tokens.messaging),
  };
  const load = startEventsLoad({ nodes: web, apiKey: own.apiKey, tokens, batchSize, count });
  const deleted = (async () => {
    await eventually('the webhook is in use', () => receivers.gone.calls.length > 20, { withinMs });
    return deleteHook(hooks.gone);
  })();
  await Promise.all([breakThings(load), deleted]);
  await load.finished;
  await untilAllHasEnded(first, tokens.verify);
  const told = await checkEvents(database);
  assert.ok(told > count / 2, `only ${told} events`);
  await checkSequences();
  const stored = {
    sms: await storedOf('sms'),
    verify: await storedOf('verify'),
    messaging: await storedOf('messaging'),
  };
  for (const api of ['sms', 'verify', 'messaging'] as const) await checkFeed(readers[api], stored[api]);
  await checkArrivals(receivers.kept, hooks.kept, Object.values(stored).flat());
  checkGone(receivers.gone, await deleted);
  const { rows } = await database.query<{ type: number; events: number }>(
    'select type, count(*)::integer as events from event group by type order by type',
  );
  const lostReads = Object.values(readers).reduce((sum, reader) => sum + reader.lost(), 0);
  t.diagnostic(
    `${load.done()} texts and verifications, ${told} events: ${rows.map(({ type, events }) => `${eventTypes[type]} ${events}`).join(', ')}; ` +
      `${load.lost()} requests and ${lostReads} reads of the feed without an answer; ${receivers.kept.calls.length} calls of the webhook`,
  );
});
