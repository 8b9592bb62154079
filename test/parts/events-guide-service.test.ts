// docs/events.md: the receivers and the program that follows the feed, as they are printed there, with the real service.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { createEventCursors } from '../../src/events/event-cursor.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Program, samples, startProgram, startReceiver, writeSamples } from '../support/guide-receivers.ts';
import { urlOf } from '../support/node-settings.ts';
import { freePort } from '../support/process.ts';

let app: TestApp;
let application: TestApplication;
let pool: pg.Pool;
let folder: string;
let follower: Program;

before(async () => {
  [app, folder] = await Promise.all([createTestApp({ clock: createRunningClock() }), writeSamples()]);
  application = await createRegistered(app, ['sms']);
  pool = new pg.Pool({ connectionString: urlOf(app.db.connection) });
  pool.on('error', () => {});
  await pool.query(samples.get('events.sql') ?? '');
  follower = await follow();
});
after(async () => {
  await follower.stop();
  await pool.end();
  await app.close();
});

function follow(): Promise<Program> {
  return startProgram(folder, ['node', 'follow-feed.mjs'], 'Following the feed', {
    HELIOGRAPH_URL: app.url,
    HELIOGRAPH_API_KEY: application.apiKey,
    DATABASE_URL: urlOf(app.db.connection),
  });
}

async function sendText(): Promise<string> {
  const body = { to: '+447700900123', from: 'ACME', message: 'Hello' };
  const headers = { apikey: application.apiKey };
  const { status, body: made } = await send<{ id: string }>(app, 'POST', '/sms/v1/messages', { body, headers });
  assert.equal(status, 201);
  return made.id;
}

/** The events of a record that the program has kept, in the order of their arrival. */
async function keptOf(subject: string): Promise<string[]> {
  const { rows } = await pool.query<{ type: string }>(
    `select body ->> 'type' as type from heliograph_event where body ->> 'subject' = $1 order by (body ->> 'sequence')::int`,
    [subject],
  );
  return rows.map(({ type }) => type);
}

const whole = ['message.sent', 'message.delivered'];

async function assertComes(subject: string): Promise<void> {
  await eventually('the events are kept', async () => (await keptOf(subject)).length >= whole.length);
  assert.deepEqual(await keptOf(subject), whole);
}

async function hasCursor(): Promise<boolean> {
  return (await pool.query('select from heliograph_cursor')).rowCount === 1;
}

describe('the receivers of the guide', () => {
  const commands: Record<string, [string, ...string[]]> = {
    'receive-node.ts': ['node', 'receive-node.mjs'],
    'receive-express.ts': ['node', 'receive-express.mjs'],
    'receive.py': ['python3', 'receive.py'],
  };

  test('take what the service sends', async () => {
    const path = `/portal/v1/applications/${application.id}/webhooks`;
    for (const [name, command] of Object.entries(commands)) {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/heliograph`;
      const made = await application.developer.send<{ id: string; secret: string }>('POST', path, { url });
      assert.equal(made.status, 201, name);
      const receiver = await startReceiver(folder, command, {
        PORT: String(port),
        HELIOGRAPH_WEBHOOK_SECRET: made.body.secret,
        DATABASE_URL: urlOf(app.db.connection),
        EVENTS_FILE: `${folder}/service.db`,
      });
      const tested = await application.developer.send('POST', `${path}/${made.body.id}/test`);
      const { outcome, status_code, error } = tested.body;
      assert.deepEqual({ outcome, status_code, error }, { outcome: 'delivered', status_code: 204, error: null }, name);
      await receiver.stop();
      assert.equal((await application.developer.send('DELETE', `${path}/${made.body.id}`)).status, 204, name);
    }
  });
});

describe('following the feed as the guide does', () => {
  test('keeps every event once', async () => {
    await eventually('the first read', hasCursor);
    await assertComes(await sendText());
  });

  test('goes on after an outage, with what happened meanwhile', async () => {
    await follower.stop();
    const missed = await sendText();
    follower = await follow();
    await assertComes(missed);
    await assertComes(await sendText());
  });

  test('learns by a 410 that its cursor is too old, reads the open records, and starts again', async () => {
    await follower.stop();
    const ancient = createEventCursors(app.keys).cursorAt(application.id, 1);
    await pool.query('update heliograph_cursor set cursor = $1', [ancient]);
    follower = await follow();
    await eventually('it reads all open records', () => follower.output().includes('Reading all open records'));
    await assertComes(await sendText());
  });
});
