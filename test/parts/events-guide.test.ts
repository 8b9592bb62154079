// docs/events.md: every sample is taken from the document and run.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { eventTypes } from '../../src/events/event.ts';
import { inboundSchema, optOutSchema } from '../../src/inbound/inbound-record.ts';
import { messageSchema } from '../../src/messages/message-record.ts';
import { verificationSchema } from '../../src/verify/verification-record.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  compilerErrors,
  guide,
  hasProgram,
  type Receiver,
  samples,
  startReceiver,
  writeSamples,
} from '../support/guide-receivers.ts';
import { urlOf } from '../support/node-settings.ts';

interface Event {
  id: string;
  type: string;
  sequence: number;
  subject: string;
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
/** The samples keep events in SQLite. */
const hasPhp = hasProgram('php', ['-r', "exit(extension_loaded('pdo_sqlite') ? 0 : 1);"]);
let db: TestDatabase;
let pool: pg.Pool;
let folder: string;
let receivers: Record<string, Receiver> = {};
let sqliteFile: string;

before(async () => {
  [db, folder] = await Promise.all([createTestDatabase(), writeSamples()]);
  const env = { HELIOGRAPH_WEBHOOK_SECRET: secret, DATABASE_URL: urlOf(db.connection) };
  pool = new pg.Pool({ connectionString: env.DATABASE_URL });
  pool.on('error', () => {});
  await pool.query(samples.get('events.sql') ?? '');
  sqliteFile = join(folder, 'events.db');
  const withFile = { ...env, EVENTS_FILE: sqliteFile };
  const [print, node, express, python] = await Promise.all([
    startReceiver(folder, ['node', 'print-events.mjs'], env),
    startReceiver(folder, ['node', 'receive-node.mjs'], env),
    startReceiver(folder, ['node', 'receive-express.mjs'], env, '/heliograph'),
    startReceiver(folder, ['python3', 'receive.py'], withFile),
  ]);
  receivers = { print, node, express, python };
  if (hasPhp) {
    receivers.php = await startReceiver(folder, ['php', '-S', '127.0.0.1:0', 'receive.php'], {
      ...env,
      EVENTS_FILE: join(folder, 'php.db'),
    });
  }
});
after(async () => {
  await Promise.all(Object.values(receivers).map((receiver) => receiver.stop()));
  await pool.end();
  await db.drop();
});

let count = 0;

function newEvent(sequence = 1, subject = `msg_${++count}`): Event {
  return { id: `evt_${++count}`, type: 'message.sent', sequence, subject };
}

function signature(id: string, timestamp: string, body: string, key = secret): string {
  const bytes = Buffer.from(key.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', bytes).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

const secondsFromNow = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds);

/** A webhook as Heliograph sends it; `change` spoils it. */
function signed(event: Event, change: { timestamp?: string; signature?: string; body?: string } = {}) {
  const sent = JSON.stringify(event);
  const timestamp = change.timestamp ?? secondsFromNow(0);
  const headers = {
    'content-type': 'application/json',
    'webhook-id': event.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': change.signature ?? signature(event.id, timestamp, sent),
  };
  return { method: 'POST', headers, body: change.body ?? sent };
}

async function statusOf(receiver: Receiver, request: RequestInit): Promise<number> {
  const response = await fetch(receiver.url, request);
  await response.arrayBuffer();
  return response.status;
}

describe('the receivers of the guide', () => {
  test('what runs them is on this machine', (t) => {
    if (!hasPhp) t.diagnostic('php with pdo_sqlite is not installed here, so the PHP samples were read but not run');
    assert.ok(hasProgram('python3'), 'python3 is needed to run the Python samples');
    for (const needed of ['hash_equals(', "'php://input'", 'abs(time() - ', "explode(' ', "]) {
      const php = `${samples.get('verify_webhook.php')}${samples.get('receive.php')}`;
      assert.ok(php.includes(needed), `the PHP samples use ${needed}`);
    }
  });

  test('take what is signed: once or twice, by the first or the second signature, within five minutes', async () => {
    for (const [name, receiver] of Object.entries(receivers)) {
      const event = newEvent();
      assert.equal(await statusOf(receiver, signed(event)), 204, name);
      assert.equal(await statusOf(receiver, signed(event)), 204, `${name}, again`);
      const now = secondsFromNow(0);
      const body = JSON.stringify(event);
      const right = signature(event.id, now, body);
      const other = signature(event.id, now, body, newSecret());
      for (const both of [`${other} ${right}`, `${right} ${other}`, `v1a,abc ${right}`]) {
        assert.equal(
          await statusOf(receiver, signed(event, { timestamp: now, signature: both })),
          204,
          `${name} ${both}`,
        );
      }
      for (const seconds of [-290, 290]) {
        const timestamp = secondsFromNow(seconds);
        assert.equal(await statusOf(receiver, signed(event, { timestamp })), 204, `${name}, ${seconds} s`);
      }
      await assertKeptOnce(name, event);
    }
  });

  test('refuse what is not signed, changed, too old or from the future, and go on', async () => {
    const event = newEvent();
    const text = JSON.stringify(event);
    const now = secondsFromNow(0);
    const right = signature(event.id, now, text);
    const refused: Record<string, RequestInit> = {
      'another secret': signed(event, { timestamp: now, signature: signature(event.id, now, text, newSecret()) }),
      'no signature': signed(event, { signature: '' }),
      'a signature without its version': signed(event, { timestamp: now, signature: right.slice(3) }),
      'another version': signed(event, { timestamp: now, signature: right.replace('v1', 'v2') }),
      'a part of the signature': signed(event, { timestamp: now, signature: right.slice(0, 20) }),
      'letters beyond ASCII': signed(event, { timestamp: now, signature: 'v1,ÿé' }),
      'a changed body': signed(event, { body: text.replace('sent', 'failed') }),
      'a body written again': signed(event, { body: JSON.stringify(event, null, 1) }),
      'an empty body': signed(event, { body: '' }),
      'an old timestamp': signed(event, { timestamp: secondsFromNow(-310) }),
      'a timestamp of the future': signed(event, { timestamp: secondsFromNow(310) }),
      'a timestamp that is no number': signed(event, { timestamp: 'now' }),
      'an empty timestamp': signed(event, { timestamp: '' }),
      'no headers at all': { method: 'POST', body: text },
    };
    for (const [name, receiver] of Object.entries(receivers)) {
      for (const [what, request] of Object.entries(refused)) {
        assert.equal(await statusOf(receiver, request), 400, `${name}: ${what}`);
      }
      assert.equal(await statusOf(receiver, signed(newEvent())), 204, `${name} goes on`);
      await assertKeptOnce(name, event, 0);
    }
  });

  test('go on after the database has closed their connections', async () => {
    const others = 'pid <> pg_backend_pid() and datname = current_database()';
    await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
    for (const name of ['node', 'express'] as const) {
      const receiver = receivers[name] as Receiver;
      const event = newEvent();
      // A connection may end while it is used: then the answer is 503, and the event comes again.
      const first = await statusOf(receiver, signed(event));
      assert.ok(first === 204 || first === 503, `${name} answers ${first}`);
      assert.equal(await statusOf(receiver, signed(event)), 204, name);
      await assertKeptOnce(name, event);
    }
  });

  test('take no more than a mebibyte, and go on', async () => {
    const event = { ...newEvent(), padding: 'x'.repeat(1024 * 1024) };
    for (const name of ['node', 'python'] as const) {
      const receiver = receivers[name] as Receiver;
      const status = await statusOf(receiver, signed(event)).catch(() => 'cut');
      assert.ok(status === 400 || status === 'cut', `${name}: ${status}`);
      assert.equal(await statusOf(receiver, signed(newEvent())), 204, `${name} goes on`);
    }
  });
});

async function assertKeptOnce(name: string, { id, type, subject, sequence }: Event, times = 1): Promise<void> {
  if (name === 'print') {
    if (times > 0) assert.ok(receivers.print?.output().includes(`${type} ${subject} ${sequence}`), 'it is printed');
  } else if (name === 'node' || name === 'express') {
    const { rows } = await pool.query('select body from heliograph_event where id = $1', [id]);
    assert.equal(rows.length, times, name);
  } else if (name === 'python') {
    const code =
      'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("select count(*) from event where id = ?", sys.argv[2:]).fetchone()[0])';
    assert.equal(
      execFileSync('python3', ['-c', code, sqliteFile, id], { encoding: 'utf8' }).trim(),
      String(times),
      name,
    );
  }
}

describe('handling of events as in the guide', () => {
  type Keep = (database: pg.Pool, events: object[]) => Promise<void>;
  type ApplyNext = (pool: pg.Pool, apply: (client: unknown, event: Event) => Promise<void>) => Promise<boolean>;
  const load = (name: string) => import(pathToFileURL(join(folder, name)).href) as Promise<Record<string, unknown>>;

  test('whatever the order, and with three workers: no event is applied twice, and none after a later one', async () => {
    await pool.query('truncate heliograph_event, heliograph_record');
    const keepEvents = (await load('keep-events.mjs')).keepEvents as Keep;
    const applyNextEvent = (await load('apply-events.mjs')).applyNextEvent as ApplyNext;
    const orders = [
      [1, 2, 3],
      [1, 3, 2],
      [2, 1, 3],
      [2, 3, 1],
      [3, 1, 2],
      [3, 2, 1],
      [2, 2, 1, 1, 3, 3],
    ];
    const all = orders.map((order, index) => {
      const own = [1, 2, 3].map((sequence) => newEvent(sequence, `msg_order_${index}`));
      return order.map((sequence) => own[sequence - 1] as Event);
    });
    const applied: Event[] = [];
    const work = async () => {
      while (await applyNextEvent(pool, async (_client, event) => void applied.push(event)));
    };
    for (let step = 0; step < 6; step++) {
      for (const order of all) await keepEvents(pool, order.slice(step, step + 1));
      await Promise.all([work(), work(), work()]);
    }
    assert.equal(new Set(applied.map(({ id }) => id)).size, applied.length, 'none twice');
    for (const [index] of orders.entries()) {
      const sequences = applied
        .filter(({ subject }) => subject === `msg_order_${index}`)
        .map(({ sequence }) => sequence);
      assert.deepEqual(
        sequences,
        sequences.toSorted((a, b) => a - b),
        `in order: ${sequences}`,
      );
      assert.equal(sequences.at(-1), 3, 'the newest is applied');
    }
    const { rows } = await pool.query('select 1 from heliograph_event where applied_at is null');
    assert.equal(rows.length, 0, 'none waits');
  });

  test('an event whose work fails waits and is applied later', async () => {
    const keepEvents = (await load('keep-events.mjs')).keepEvents as Keep;
    const applyNextEvent = (await load('apply-events.mjs')).applyNextEvent as ApplyNext;
    await keepEvents(pool, [newEvent()]);
    await assert.rejects(
      applyNextEvent(pool, () => Promise.reject(new Error('the shop is closed'))),
      /the shop is closed/,
    );
    let times = 0;
    assert.ok(await applyNextEvent(pool, async () => void times++), 'it still waited');
    assert.equal(await applyNextEvent(pool, async () => void times++), false);
    assert.equal(times, 1);
  });
});

describe('the words of the guide', () => {
  test('the compiler has nothing against the TypeScript samples', () => {
    assert.equal(compilerErrors(folder), '');
  });

  test('it lists every type of event, and no other', () => {
    const listed = [...guide.matchAll(/^\| `((?:message|verification|recipient|webhook)\.\w+)` \|/gm)].map(
      ([, type]) => type,
    );
    assert.deepEqual(new Set(listed), new Set([...eventTypes, 'webhook.test']));
  });

  test('examples of the guide have the fields of events and records', () => {
    const schemas = {
      'message-event': messageSchema,
      'verification-event': verificationSchema,
      'inbound-event': inboundSchema,
      'opt-out-event': optOutSchema,
    };
    const fields = ['id', 'type', 'time', 'sequence', 'subject', 'api', 'application_id', 'reference', 'data'];
    for (const [name, schema] of Object.entries(schemas)) {
      const example = JSON.parse(samples.get(name) ?? '{}') as { data: object };
      assert.deepEqual(Object.keys(example), fields, name);
      assert.deepEqual(new Set(Object.keys(example.data)), new Set(schema.required), name);
    }
  });
});
