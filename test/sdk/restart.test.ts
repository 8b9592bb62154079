// run: with services
// The service is killed under load, again and again: a program with the client loses no text, sends none twice, and
// misses no event.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ConnectionError, type Heliograph, HeliographError } from '@heliograph/client';
import { uuidOf } from '../../src/platform/ids.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createClient } from '../support/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { describeTexts } from '../support/describe-texts.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { sharedSettings, urlOf } from '../support/node-settings.ts';
import { freePort, makeFolder } from '../support/process.ts';
import { endServices, type Service, startService } from '../support/service.ts';

const dataDir = makeFolder('client-restart');
let db: TestDatabase;
let port: number;
let service: Service;
let acme: TestApplication;

async function start(): Promise<void> {
  const env = { ...sharedSettings, DATABASE_URL: urlOf(db.connection) };
  service = await startService({ dataDir, port, command: ['node', join('dist', 'service', 'main.js')], env });
  await service.ready;
}

before(async () => {
  db = await createTestDatabase();
  port = await freePort();
  await start();
  acme = await createRegistered(service, ['sms', 'messaging'], 'enterprise');
});
after(async () => {
  await endServices();
  await db.drop();
});

/** Sends a text until the service has it. A program that stores its key before it sends may call again for ever. */
async function sendUntilTaken(api: Heliograph['sms'], reference: string): Promise<string> {
  for (;;) {
    try {
      const text = { to: '+447700900123', from: 'ACME', message: 'Hello', reference };
      return (await api.send(text, { idempotencyKey: reference })).id;
    } catch (error) {
      const isAway = error instanceof ConnectionError || (error instanceof HeliographError && error.status >= 500);
      if (!isAway) throw error;
    }
  }
}

test('kill -9 under load: each text is accepted once, and the feed has each once', async (t) => {
  const { heliograph, tokenRequests } = createClient(service, acme);
  const told = new Map<string, number>();
  let interruptions = 0;
  const stop = new AbortController();
  const { next_cursor: cursor } = await heliograph.sms.events.read();
  const follow = async () => {
    const onInterrupted = () => interruptions++;
    // A text whose receipt came before the answer to its submit was never `sent`; all of them are delivered.
    for await (const event of heliograph.sms.events.follow({ cursor, signal: stop.signal, onInterrupted }))
      if (event.type === 'message.delivered') told.set(event.subject, (told.get(event.subject) ?? 0) + 1);
  };
  const following = follow().catch((error: unknown) => error);
  const taken = new Map<string, string>();
  let isOver = false;
  const send = async (name: string, api: Heliograph['sms']) => {
    for (let count = 0; !isOver; count++) {
      const reference = `${name}-${count}`;
      taken.set(reference, await sendUntilTaken(api, reference));
    }
  };
  const senders = ['a', 'b', 'c', 'd'].flatMap((name) => [
    send(`sms-${name}`, heliograph.sms),
    send(`messaging-${name}`, heliograph.messaging),
  ]);
  for (let round = 0; round < inShort(1, 20); round++) {
    const wanted = taken.size + 50;
    await eventually('fifty more texts', () => taken.size >= wanted);
    service.kill('SIGKILL');
    await service.ended;
    await start();
  }
  const wanted = taken.size + 50;
  await eventually('fifty more texts', () => taken.size >= wanted);
  isOver = true;
  await Promise.all(senders);

  const { rows } = await db.database.query<{ reference: string; count: number }>(
    'select reference, count(*)::int as count from message where application_id = $1 group by reference',
    [uuidOf(acme.id)],
  );
  const kept = new Map(rows.map(({ reference, count }) => [reference, count]));
  assert.deepEqual(
    [...taken.keys()].filter((reference) => kept.get(reference) !== 1),
    [],
    'not accepted once',
  );
  assert.equal(kept.size, taken.size, 'a text that no call knows of');
  const bySms = [...taken].filter(([reference]) => reference.startsWith('sms-')).map(([, id]) => id);
  const untold = () => bySms.filter((id) => !told.has(id));
  await eventually('the feed has all', () => untold().length === 0).catch(async (error: Error) => {
    const ended = await Promise.race([following, 'goes on']);
    throw new Error(`${error.message}; following: ${ended}\n${await describeTexts(db.database, untold())}`);
  });
  stop.abort(new Error('over'));
  assert.match(String(await following), /over/);
  assert.deepEqual(
    [...told.values()].filter((count) => count !== 1),
    [],
    'emitted more than once',
  );
  assert.equal(told.size, bySms.length);
  t.diagnostic(JSON.stringify({ texts: taken.size, tokenRequests: tokenRequests(), interruptions }));
});
