// docs/events.md: the program that follows the feed, as it is printed there, against the real service.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { createEventIds } from '../../src/events/event-id.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Program, samples, startProgram, writeSamples } from '../support/guide-receivers.ts';
import { urlOf } from '../support/node-settings.ts';

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

  test('is told by a 410 that its cursor is too old, reads the open records, and starts again', async () => {
    await follower.stop();
    const ancient = createEventIds(app.keys).idOf(1, app.clock.nowMs());
    await pool.query('update heliograph_cursor set cursor = $1', [ancient]);
    follower = await follow();
    await eventually('it reads all open records', () => follower.output().includes('Reading all open records'));
    await assertComes(await sendText());
  });
});
