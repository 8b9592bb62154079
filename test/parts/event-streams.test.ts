// What a contract test would have to wait for: heartbeats of a quiet stream, and a stream that outlives a gap in listening.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { composeEvents } from '../../src/compose/events.ts';
import { createNodeWindows } from '../../src/edge/node-windows.ts';
import type { EmittedEvent } from '../../src/events/event.ts';
import { createStreamPlaces } from '../../src/http/streams/stream-places.ts';
import { newId } from '../../src/platform/ids.ts';
import { createMetrics } from '../../src/platform/metrics/metrics.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { writeEvents } from '../support/event-feed.ts';
import { readEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';

let app: TestApp;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
});
after(() => app.close());

const turns = { run: <Result>(_: string, work: () => Promise<Result>) => work(), running: 0, waiting: 0 };

function createEvents() {
  const { config, clock, db, keys } = app;
  const metrics = app.app.metrics;
  const foundation = {
    version: 'test',
    config,
    clock,
    database: db.database,
    sideDatabase: db.database,
    keys,
    metrics,
    windows: createNodeWindows(clock, createMetrics()),
    ...createTestLog(),
  };
  return composeEvents(foundation, {
    bulkheads: { side: turns, outside: turns },
    places: createStreamPlaces(),
    heartbeatMs: 5,
  });
}

async function openStream(events: ReturnType<typeof createEvents>, applicationId: string, after: number) {
  const gone = new AbortController();
  const stream = await events.streams.open({
    applicationId,
    filter: { api: 'sms' },
    after,
    returning: true,
    listens: true,
    signal: gone.signal,
    onCredentialEnd: () => () => {},
    mayRead: async () => true,
  });
  let raw = '';
  stream.on('data', (bytes: Buffer) => {
    raw += bytes.toString('utf8');
  });
  const lastId = () => [...raw.matchAll(/^id: (.*)\n/gm)].at(-1)?.[1] ?? '';
  const told = () => readEvents(raw).map(({ data }) => JSON.parse(data) as EmittedEvent);
  return { stream, lastId, told, close: () => gone.abort() };
}

test('a heartbeat moves the cursor of a quiet reader behind what is not for it, and none of its own is skipped', async () => {
  const events = createEvents();
  const { reads, listeners } = events.feedRoutes;
  const [own, other] = [newId('app', app.clock), newId('app', app.clock)];
  await listeners.readFeed(own);
  const { after: start } = await reads.spanFromNow();
  const reader = await openStream(events, own, start);
  const newSubject = () => newId('msg', app.clock);
  // Before the first heartbeat there is no place.
  const place = async () => (reader.lastId() === '' ? -1 : await reads.readCursor(own, reader.lastId(), 'id'));
  for (let round = 0; round < 5; round++) {
    await writeEvents(app.db.database, other, [{ subject: newSubject() }]);
    await writeEvents(app.db.database, own, [{ subject: newSubject(), api: 'verify' }]);
    const { after: now } = await reads.spanFromNow();
    await eventually('a heartbeat of now', async () => (await place()) >= now || undefined);
  }
  assert.deepEqual(reader.told(), []);
  const read = await place();
  reader.close();
  const subject = newSubject();
  await writeEvents(app.db.database, own, [{ subject }]);
  const again = await openStream(events, own, read);
  await eventually('the event', () => again.told().length === 1 || undefined);
  assert.equal(again.told()[0]?.subject, subject);
  again.close();
  events.streams.stop();
});
