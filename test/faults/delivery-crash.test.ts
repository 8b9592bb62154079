// run: with crashes, on web processes
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { statusCode, statusCodes } from '../../src/messages/message-row.ts';
import { fromUuid } from '../../src/platform/ids.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { makeFolder } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import { endPostgres, inDatabase } from '../support/service-database.ts';

before(buildService);
after(endServices);

/** What the sandbox's carrier takes in one submit, and how many submits are under way at once. */
const submitsInFlight = 2 * 500;

// Built before, so that an edited source does not make every start build again.
const command: [string, string] = ['node', 'dist/service/main.js'];
const env = {
  LOG_LEVEL: 'error',
  HELIOGRAPH_PLANS: '{"enterprise":{"per_minute":1000000,"burst":1000000}}',
};

const senderCount = inShort(6, 16);
const breathMs = inShort(15, 5);

interface Load {
  /** The ids that were answered 201. */
  answered: Set<string>;
  /** How often each status was answered. */
  statuses: Map<number, number>;
  slowestMs: number;
  /** From now on it goes there. */
  turnTo(service: Service): void;
  stop(): Promise<void>;
}

/**
 * Senders who go on whatever happens to the service. They breathe between two requests: what they would take
 * from a busy machine is what the next service needs to start.
 */
function startLoad({ url, dataDir }: Service): Load {
  const credentials = JSON.parse(readFileSync(join(dataDir, 'sandbox-credentials.json'), 'utf8')) as {
    applications: { plan: string; api_key: string }[];
  };
  const apiKey = credentials.applications.find(({ plan }) => plan === 'enterprise')?.api_key ?? '';
  const agent = new Agent({ keepAlive: true, maxSockets: senderCount });
  let stopped = false;
  let target = url;
  const load = { answered: new Set<string>(), statuses: new Map<number, number>(), slowestMs: 0 };

  async function send(): Promise<void> {
    const startedMs = performance.now();
    const { status, body } = await post(agent, `${target}/sms/v1/messages`, apiKey);
    load.slowestMs = Math.max(load.slowestMs, performance.now() - startedMs);
    load.statuses.set(status, (load.statuses.get(status) ?? 0) + 1);
    if (status === 201) load.answered.add((JSON.parse(body) as { id: string }).id);
    await pause(status === 201 ? breathMs : 50);
  }

  async function keepSending(): Promise<void> {
    // A connection that breaks says nothing of what became of its request.
    while (!stopped) await send().catch(() => pause(100));
  }
  const senders = Array.from({ length: senderCount }, keepSending);
  return {
    ...load,
    get slowestMs() {
      return load.slowestMs;
    },
    turnTo(service) {
      target = service.url;
    },
    async stop() {
      stopped = true;
      await Promise.all(senders);
      agent.destroy();
    },
  };
}

function post(agent: Agent, url: string, apiKey: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const headers = { apikey: apiKey, 'Content-Type': 'application/json' };
    const sent = request(url, { method: 'POST', agent, headers, timeout: 15_000 }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', reject);
      response.on('aborted', () => reject(new Error('cut off')));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end('{"to":"+447700900123","from":"ACME","message":"Hello"}');
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

interface Entry {
  id: string;
  status: number;
  marks: number;
  arrivals: number;
}

/** A delivered text must be in none of these, or it would be sent again. */
const workLeft =
  'select from delivery_queue union all select from delivery_schedule union all select from delivery_claim';

/** Waits until everything has got to where it goes, then holds what was answered against what arrived. */
async function assertKept(t: TestContext, { answered }: Load, dataDir: string, crashes: number): Promise<void> {
  const entries = await inDatabase(dataDir, async (database) => {
    const left = async () =>
      (await database.query(`select from message where status in (${statusCodes(['scheduled', 'queued', 'sent'])})`))
        .count;
    await eventually('everything is delivered', async () => (await left()) === 0, { withinMs: 60_000, everyMs: 50 });
    await eventually('no work is left', async () => (await database.query(workLeft)).count === 0, { everyMs: 50 });
    const { rows } = await database.query<Entry>(
      `select m.id, m.status, m.possible_duplicates as marks, count(h.id)::integer as arrivals
       from message m left join handset_text h on h.message_id = m.id group by m.id`,
    );
    return rows.map((row) => ({ ...row, id: fromUuid('msg', row.id) }));
  });
  const found = new Set(entries.map(({ id }) => id));
  const lost = [...answered].filter((id) => !found.has(id));
  assert.deepEqual(lost, [], 'answered 201, and not in the database');
  assert.deepEqual(
    entries.filter(({ arrivals, status }) => arrivals === 0 || status !== statusCode('delivered')),
    [],
    'accepted, and not on the phone',
  );
  assert.deepEqual(
    entries.filter(({ arrivals, marks }) => arrivals - 1 > marks),
    [],
    'arrived more often than it is marked',
  );
  const duplicates = entries.reduce((sum, { arrivals }) => sum + arrivals - 1, 0);
  assert.ok(duplicates <= crashes * submitsInFlight, `${duplicates} duplicates`);
  const marked = entries.filter(({ marks }) => marks > 0).length;
  t.diagnostic(
    `${crashes} crashes, ${answered.size} answered, ${found.size} kept, ${duplicates} duplicates, ${marked} marked`,
  );
  assert.ok(answered.size >= crashes, 'there was no load');
}

async function stop(service: Service): Promise<void> {
  service.kill('SIGTERM');
  const { code } = await service.ended;
  assert.equal(code, 0, service.output());
}

/** An unpredictable moment in the middle of the work. */
async function someMoment({ answered }: Load): Promise<void> {
  const before = answered.size;
  await eventually('it answers', () => answered.size >= before + 20, { withinMs: 60_000 });
  await pause(Math.random() * 300);
}

const crashes = inShort(2, 20);
/** Each of these takes Postgres along. */
const bothAtEach = inShort(2, 5);
const databaseCrashes = inShort(1, 4);

describe('nothing that was answered 201 is lost, and what arrived twice is marked', () => {
  const dataDir = makeFolder('crash');
  /** The second test goes on with what the first has started last. */
  let service: Service;
  before(async () => {
    service = await startService({ dataDir, env, command });
    await service.ready;
  });

  test(`kill -9 of the service at ${crashes} random moments under load, and of its Postgres with it at every ${bothAtEach}. one`, async (t) => {
    const load = startLoad(service);
    for (let crash = 1; crash <= crashes; crash++) {
      const both = crash % bothAtEach === 0;
      await someMoment(load);
      // It comes up while the other still runs, waits for that one's lock, and so loses no time.
      const waiting = both ? undefined : await startService({ dataDir, env, command });
      await pause(Math.random() * 300);
      service.kill('SIGKILL');
      if (both) await endPostgres(dataDir, 'SIGKILL');
      await service.ended;
      service = waiting ?? (await startService({ dataDir, env, command }));
      load.turnTo(service);
    }
    await someMoment(load);
    await load.stop();
    await assertKept(t, load, dataDir, crashes);
    assert.deepEqual(
      [...load.statuses.keys()].filter((status) => status !== 201 && status !== 503),
      [],
    );
  });

  test(`kill -9 of Postgres under load (${databaseCrashes}): 503 meanwhile, and the service goes on by itself`, async (t) => {
    const load = startLoad(service);
    for (let crash = 1; crash <= databaseCrashes; crash++) {
      await someMoment(load);
      const refused = load.statuses.get(503) ?? 0;
      await endPostgres(dataDir, 'SIGKILL');
      await eventually('it says so', () => (load.statuses.get(503) ?? 0) > refused, { withinMs: 20_000 });
    }
    await someMoment(load);
    await load.stop();
    await assertKept(t, load, dataDir, crashes + databaseCrashes);
    assert.deepEqual(new Set(load.statuses.keys()), new Set([201, 503]));
    assert.ok(load.slowestMs < inShort(30_000, 8000), `an answer took ${load.slowestMs} ms`);
    await stop(service);
  });
});
