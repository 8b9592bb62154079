import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Member, type PatroniCluster, startPatroni } from '../../scripts/ha/patroni.ts';
import { debianPackages, findMissing } from '../../scripts/ha/programs.ts';
import { statusCode, statusCodes } from '../../src/messages/message-row.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { statusCode as verificationStatusCode } from '../../src/verify/verification-row.ts';
import { bearer, createRegistered, type TestApplication } from './applications.ts';
import { type ChaosLoad, startChaosLoad } from './chaos-load.ts';
import { beginFeed, readFeed } from './event-feed.ts';
import { eventually } from './eventually.ts';
import { tellFigure } from './figures.ts';
import { createRandom } from './limiter-model.ts';
import { sharedSettings } from './node-settings.ts';
import { freePort, makeFolder } from './process.ts';
import { startRedis } from './redis.ts';
import { endService, type Service, startService } from './service.ts';
import { createWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

/** Two nodes on three Postgres under Patroni, one listening application, and its load. */
export interface HaWorld {
  postgres: PatroniCluster;
  nodes: Service[];
  load: ChaosLoad;
  /** How long writes failed beyond the time that Patroni took, for each fault. */
  beyondMs: number[];
  patroniMs: number[];
  /** Holds what was answered against what there is, and ends the load. */
  assertKept(): Promise<void>;
  close(): Promise<void>;
}

const env = {
  ...sharedSettings,
  HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}',
  HELIOGRAPH_GUARD: '{"per_prefix":1000000,"per_number":1000000}',
  HELIOGRAPH_TOKEN_SECONDS: '86400',
  HELIOGRAPH_RESEND_SECONDS: '1',
  LOG_LEVEL: 'error',
};

export async function startHaWorld(): Promise<HaWorld> {
  const endings: (() => Promise<unknown>)[] = [];
  try {
    return await start(endings);
  } catch (error) {
    for (const end of endings.reverse()) await end().catch(() => {});
    throw error;
  }
}

/** A machine that is busy with other things may answer 503 while everything starts. */
async function patiently<Result>(step: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await step();
    } catch (error) {
      if (tries === 5) throw error;
      await pause(2000);
    }
  }
}

async function start(endings: (() => Promise<unknown>)[]): Promise<HaWorld> {
  const missing = findMissing();
  assert.deepEqual(missing, [], `install them: apt-get install ${debianPackages.join(' ')}`);
  const folder = makeFolder('ha');
  chmodSync(folder, 0o711);
  const postgres = await startPatroni(folder, freePort);
  endings.push(() => postgres.close());
  const redis = await startRedis();
  endings.push(() => redis.stop());
  const nodes: Service[] = [];
  for (let number = 0; number < 2; number++) {
    const node = await startService({ env: { ...env, DATABASE_URL: postgres.url, REDIS_URL: redis.url } });
    nodes.push(node);
    endings.push(() => endService(node));
    await node.ready;
  }
  const own = await patiently(() =>
    createRegistered(nodes[0] ?? assert.fail(), ['sms', 'verify', 'messaging'], 'enterprise'),
  );
  const receiver = await createWebhookReceiver();
  endings.push(() => receiver.close());
  const made = await own.developer.send('POST', `/portal/v1/applications/${own.id}/webhooks`, { url: receiver.url });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const cursor = await beginFeed(nodes[0] ?? assert.fail(), { apikey: own.apiKey });
  const load = startChaosLoad({ nodes, own, random: createRandom(7) });
  // A new key ends the older ones of its application.
  const other = await patiently(() =>
    createRegistered(nodes[0] ?? assert.fail(), ['sms'], 'enterprise', own.developer),
  );
  const more = startMore(nodes, own, other.id, load);
  const isLoaded = () => load.sent.size > 20 && load.approvals.size > 3 && load.revoked > 2;
  await eventually('there is load', isLoaded, { withinMs: 180_000 }).catch(async (error: Error) => {
    const counts = `${load.sent.size} texts, ${load.approvals.size} verifications, ${load.revoked} revocations`;
    const statuses = load.history.entries.slice(-12).map(({ operation, status }) => `${operation} ${status}`);
    await more.stop();
    await load.stop();
    throw new Error(`${error.message}: ${counts}; ${statuses.join(', ')}`);
  });
  return {
    postgres,
    nodes,
    load,
    beyondMs: [],
    patroniMs: [],
    async assertKept() {
      const tries = await more.stop();
      await load.stop();
      await postgres.whole();
      const member = (await postgres.primary()) ?? assert.fail('there is no primary');
      await postgres.inDatabase(member, 'heliograph', (database) =>
        assertLedger({ database, load, own, nodes, receiver, cursor, tries }),
      );
    },
    async close() {
      await more.stop().catch(() => {});
      await load.stop().catch(() => {});
      await Promise.all(nodes.map(endService));
      await receiver.close();
      await redis.stop();
      await postgres.close();
    },
  };
}

interface Tries {
  /** Wrong codes that were answered, by verification. */
  wrong: Map<string, number>;
  /** Keys whose deletion was answered. */
  deleted: string[];
}

/** Wrong codes, and keys that come and go, beside the load of texts, right codes and revocations. */
function startMore(nodes: Service[], own: TestApplication, otherId: string, { history }: ChaosLoad) {
  const tries: Tries = { wrong: new Map(), deleted: [] };
  let stopped = false;
  const url = (turn: number) => nodes[turn % nodes.length]?.url ?? '';
  const call = <Body>(
    operation: string,
    address: string,
    method: string,
    headers: Record<string, string>,
    body?: object,
  ) =>
    history.request<Body>(operation, address, {
      method,
      headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });

  async function guess(): Promise<void> {
    for (let turn = 0; !stopped; turn++) {
      const form = new URLSearchParams({
        ...own.client,
        grant_type: 'client_credentials',
        scope: 'openid verify:manage',
      });
      const path = '/realms/heliograph/protocol/openid-connect/token';
      const token = await history.request<{ access_token: string }>('token', url(turn) + path, {
        method: 'POST',
        body: form,
      });
      const headers = bearer(token?.body.access_token ?? '');
      const base = '/verify/v1/verifications';
      const to = `+1500555010${5 + (turn % 5)}`;
      const started =
        token && (await call<{ id: string }>('start', url(turn) + base, 'POST', headers, { to, channel: 'sms' }));
      if (started?.status === 200) {
        for (let n = 0; n < 2; n++) {
          const { id } = started.body;
          const reply = await call<{ reason: string }>('guess', `${url(turn + n)}${base}/${id}`, 'POST', headers, {
            code: '000000',
          });
          if (reply?.status === 200 && reply.body.reason === 'incorrect_code')
            tries.wrong.set(id, (tries.wrong.get(id) ?? 0) + 1);
        }
      }
      await pause(300);
    }
  }

  async function changeKeys(): Promise<void> {
    const keys = `/portal/v1/applications/${otherId}/keys`;
    const { cookie } = own.developer;
    for (let turn = 0; !stopped; turn++) {
      const made = await call<{ id: string; api_key: string }>(
        'key',
        url(turn) + keys,
        'POST',
        { cookie },
        { name: 'drill' },
      );
      if (made?.status === 201) {
        const { id, api_key: key } = made.body;
        const use = (at: number) => call('list', `${url(at)}/sms/v1/messages?limit=1`, 'GET', { apikey: key });
        await use(turn);
        const deleted = await call('delete', `${url(turn)}${keys}/${id}`, 'DELETE', { cookie });
        if (deleted?.status === 204 || deleted?.status === 200) {
          tries.deleted.push(key);
          for (const at of [0, 1]) {
            const reply = await use(at);
            assert.ok(reply === undefined || reply.status === 401, `a deleted key was answered ${reply?.status}`);
          }
        }
      }
      await pause(500);
    }
  }
  const running = Promise.all([guess(), changeKeys()]);
  running.catch(() => {});
  return {
    async stop(): Promise<Tries> {
      stopped = true;
      await running;
      return tries;
    },
  };
}

interface Ledger {
  database: Database;
  load: ChaosLoad;
  own: TestApplication;
  nodes: Service[];
  receiver: WebhookReceiver;
  cursor: string;
  tries: Tries;
}

interface TextRow {
  id: string;
  reference: string;
  status: number;
}

async function assertLedger({ database, load, own, nodes, receiver, cursor, tries }: Ledger): Promise<void> {
  const node = nodes[0] ?? assert.fail();
  const open = `select 1 from message where status in (${statusCodes(['scheduled', 'queued', 'sent'])}) limit 1`;
  await eventually('everything is delivered', async () => (await database.query(open)).count === 0, {
    withinMs: 180_000,
    everyMs: 300,
  });
  const { rows } = await database.query<TextRow>(
    'select id, reference, status from message where application_id = $1 and reference is not null',
    [uuidOf(own.id)],
  );
  const byKey = new Map<string, TextRow[]>();
  for (const row of rows) byKey.set(row.reference, [...(byKey.get(row.reference) ?? []), row]);
  for (const [key, id] of load.sent)
    assert.deepEqual(
      byKey.get(key)?.map((row) => row.id),
      [uuidOf(id)],
      `a text is lost: ${key}`,
    );
  for (const [key, texts] of byKey) {
    assert.equal(texts.length, 1, `one key, two texts: ${key}`);
    assert.equal(texts[0]?.status, statusCode('delivered'), `no receipt: ${key}`);
  }
  const approvals = [...load.approvals];
  assert.deepEqual(
    approvals.filter(([, count]) => count > 1),
    [],
    'approved twice',
  );
  const approved = approvals.filter(([, count]) => count === 1).map(([id]) => uuidOf(id));
  const { rows: lost } = await database.query(
    `select id from verification where status <> ${verificationStatusCode('approved')} and id = any($1)`,
    [approved],
  );
  assert.deepEqual(lost, [], 'answered as approved, and not so');
  const { rows: attempts } = await database.query<{ id: string; attempts: number }>(
    'select id, attempts from verification where id = any($1)',
    [[...tries.wrong.keys()].map(uuidOf)],
  );
  const spent = new Map(attempts.map(({ id, attempts }) => [id, attempts]));
  for (const [id, count] of tries.wrong) assert.ok((spent.get(uuidOf(id)) ?? 0) >= count, `a try is lost: ${id}`);
  await assertDead(nodes, load, tries);
  await assertEvents({ node, own, cursor, load, receiver });
  const unknown = load.history.entries.filter(({ outcome }) => outcome === 'unknown').length;
  tellFigure(
    `${load.history.entries.length} requests, ${unknown} of them late, 503 or without an answer; ${load.sent.size} texts, ` +
      `${load.approvals.size} verifications, ${tries.wrong.size} with wrong tries, ${load.revoked} revocations, ` +
      `${tries.deleted.length} deleted keys: none lost, none twice`,
  );
}

/** What was revoked or deleted stays so, at every node. */
async function assertDead(nodes: Service[], load: ChaosLoad, { deleted }: Tries): Promise<void> {
  for (const { url } of nodes) {
    for (const token of load.revokedTokens.slice(-200)) {
      const body = JSON.stringify({ from: 'ACME', message: 'Hello' });
      const headers = { ...bearer(token), 'Content-Type': 'application/json' };
      const answer = await fetch(`${url}/messaging/v1/messages/preview`, { method: 'POST', headers, body });
      assert.equal(answer.status, 401, 'a revoked token was admitted');
    }
    for (const key of deleted.slice(-200)) {
      const answer = await fetch(`${url}/sms/v1/messages?limit=1`, { headers: { apikey: key } });
      assert.equal(answer.status, 401, 'a deleted key was admitted');
    }
  }
}

/** Each text has its events in the feed, numbered without a gap, and each of them reached the webhook. */
async function assertEvents({
  node,
  own,
  cursor,
  load,
  receiver,
}: Pick<Ledger, 'own' | 'cursor' | 'load' | 'receiver'> & { node: Service }) {
  const sequences = new Map<string, number[]>();
  const ids = new Set<string>();
  for (let next = cursor, empty = 0; empty < 3; ) {
    const { status, body } = await readFeed(node, { apikey: own.apiKey }, { cursor: next, limit: 100 });
    assert.equal(status, 200);
    for (const { id, subject, sequence } of body.data) {
      assert.ok(!ids.has(id), `an event twice: ${id}`);
      ids.add(id);
      sequences.set(subject, [...(sequences.get(subject) ?? []), sequence]);
    }
    empty = body.data.length === 0 ? empty + 1 : 0;
    next = body.next_cursor;
  }
  for (const id of load.sent.values()) {
    const seen = sequences.get(id) ?? [];
    assert.deepEqual(
      seen,
      seen.map((_, index) => index + 1),
      `events of ${id}: ${seen}`,
    );
    assert.ok(seen.length >= 2, `events of ${id}: ${seen}`);
  }
  const arrived = () => new Set(receiver.calls.map(({ event }) => event.id));
  await eventually('the webhook has every event', () => [...ids].every((id) => arrived().has(id)), {
    withinMs: 240_000,
    everyMs: 1000,
  });
  tellFigure(
    `${ids.size} events in the feed, ${receiver.calls.length} calls of the webhook: every event arrived, in order`,
  );
}

/** Breaks something, and measures from then until another primary is there, and until writes are answered again. */
export async function measure(
  world: HaWorld,
  breakIt: () => Promise<void>,
  isOver: () => Promise<boolean>,
): Promise<void> {
  const { load, postgres } = world;
  const beganMs = performance.now();
  await breakIt();
  await eventually('there is a primary again', isOver, { withinMs: 180_000, everyMs: 50 });
  const electedMs = performance.now();
  const answered = (entry: { operation: string; outcome: string; startedMs: number; tookMs: number }) =>
    entry.operation === 'send' && entry.outcome === 'answered' && entry.startedMs + entry.tookMs > electedMs;
  await eventually('texts are accepted again', () => load.history.entries.some(answered), {
    withinMs: 60_000,
    everyMs: 50,
  });
  const first = load.history.entries.find(answered) ?? assert.fail();
  const backMs = first.startedMs + first.tookMs;
  world.patroniMs.push(electedMs - beganMs);
  world.beyondMs.push(backMs - electedMs);
  void postgres;
}

export function report(what: string, { patroniMs, beyondMs }: HaWorld): void {
  tellFigure(
    `${what}: ${patroniMs.length}; Patroni took ${spread(patroniMs)} ms, then writes were answered after ${spread(beyondMs)} ms`,
  );
}

export function p95(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.ceil(values.length * 0.95) - 1] ?? 0;
}

function spread(values: number[]): string {
  const sorted = values.toSorted((one, other) => one - other).map(Math.round);
  return `${sorted[Math.floor(sorted.length / 2)]} (p95 ${Math.round(p95(values))}, at most ${sorted.at(-1)})`;
}

/** Another member than this one takes writes. */
export function isElsewhere({ postgres }: HaWorld, before: Member): () => Promise<boolean> {
  return async () => {
    const now = await postgres.primary();
    return now !== undefined && now !== before;
  };
}
