// A cursor shows its reader nothing about the number of others' events: whatever bits are changed, the answer is the same.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createEventIds } from '../../src/events/event-id.ts';
import { hourMs } from '../../src/platform/clock.ts';
import { fromUuid, uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { beginFeed, feedPath, readFeed, readUntil, streamPath } from '../support/event-feed.ts';
import { eventually } from '../support/eventually.ts';
import { createSender, type Page, type Refusal, type Sender } from '../support/texts.ts';
import { createWebhookReceiver } from '../support/webhook-receiver.ts';

let app: TestApp;
let eve: Sender;
let victim: Sender;
before(async () => {
  app = await createTestApp();
  eve = await createSender(app, { apis: ['sms'] });
  victim = await createSender(app, { apis: ['sms'] });
});
after(() => app.close());

function flipBit(cursor: string, bit: number): string {
  const bytes = Buffer.from(uuidOf(cursor).replaceAll('-', ''), 'hex');
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
  const hex = bytes.toString('hex');
  return fromUuid('evt', hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
}

const bits = Array.from({ length: 128 }, (_, bit) => bit);
type Ask = (cursor: string) => ReturnType<typeof send<Refusal>>;
const byFeed: Ask = (cursor) => send(app, 'GET', `${feedPath}?cursor=${cursor}`, { headers: eve.key });
const byStream: Ask = (id) => send(app, 'GET', streamPath, { headers: { ...eve.key, 'Last-Event-ID': id } });
const byPortal: Ask = (cursor) =>
  eve.developer.send('GET', `/portal/v1/applications/${eve.id}/events?cursor=${cursor}`);

async function assertRefused(ask: Ask, cursor: string, why: string): Promise<void> {
  const { status, body } = await ask(cursor);
  assert.deepEqual([status, body.code], [400, 'INVALID_ARGUMENT'], `${why}: ${cursor}`);
  assert.match(String(body.details[0]?.field), /^(cursor|Last-Event-ID)$/);
}

test('a cursor or event id with any bit changed gets the 400 of any other text', async () => {
  const cursor = await beginFeed(app, eve.key);
  await eve.sms();
  const events = await readUntil(app, eve.key, cursor, 2);
  const own = new Set(events.map(({ id }) => id));
  for (const ours of [cursor, events[0]?.id ?? '']) {
    assert.equal((await byFeed(ours)).status, 200);
    // The first bits of an id are its time, which everybody may know: one that claims to be old is a 410 like any old one.
    for (const bit of bits.slice(ours === cursor ? 0 : 48).filter((each) => !own.has(flipBit(ours, each))))
      await assertRefused(byFeed, flipBit(ours, bit), `bit ${bit}`);
    for (const bit of [70, 90, 110]) {
      await assertRefused(byStream, flipBit(ours, bit), `bit ${bit}`);
      await assertRefused(byPortal, flipBit(ours, bit), `bit ${bit}`);
    }
  }
});

test('a cursor and an event of another application are none of this one', async () => {
  const cursor = await beginFeed(app, victim.key);
  await victim.sms();
  const [event] = await readUntil(app, victim.key, cursor, 2);
  for (const theirs of [cursor, event?.id ?? ''])
    for (const ask of [byFeed, byStream, byPortal]) await assertRefused(ask, theirs, 'of another application');
});

test('a cursor of a version whose cursors were not authenticated is a 410; an event’s id goes on as it did', async () => {
  const { rows } = await app.db.database.query<{ position: number; timeMs: number }>(
    'select position, time as "timeMs" from event where application_id = $1 order by position limit 1',
    [uuidOf(eve.id)],
  );
  const [first] = rows;
  assert.ok(first !== undefined);
  const ids = createEventIds(app.keys);
  assert.equal((await byFeed(ids.idOf(first.position, first.timeMs))).status, 200);
  const earlier = await byFeed(ids.idOf(first.position, app.clock.nowMs() - 2 * hourMs));
  assert.deepEqual([earlier.status, earlier.body.code], [410, 'CURSOR_EXPIRED']);
});

test('the list of a webhook’s deliveries refuses changed cursors', async () => {
  const receiver = await createWebhookReceiver();
  const path = `/portal/v1/applications/${eve.id}/webhooks`;
  const made = await eve.developer.send<{ id: string }>('POST', path, { url: receiver.url });
  for (let text = 0; text < 2; text++) await eve.sms();
  const list = (query: string) =>
    eve.developer.send<Page<{ event_id: string }>>('GET', `${path}/${made.body.id}/deliveries?limit=1${query}`);
  await eventually('two are listed', async () => {
    app.clock.advance(100);
    return (await list('')).body.next_cursor !== null;
  });
  await receiver.close();
  const { data } = (await list('')).body;
  const id = data[0]?.event_id ?? '';
  const encoded = (text: string) => Buffer.from(text).toString('base64url');
  assert.equal((await list(`&cursor=${encoded(id)}`)).status, 200);
  const { rows } = await app.db.database.query<{ position: number; timeMs: number }>(
    'select position, time as "timeMs" from event where application_id = $1',
    [uuidOf(eve.id)],
  );
  // Two events of one millisecond may differ by one bit.
  const own = new Set(rows.map(({ position, timeMs }) => createEventIds(app.keys).idOf(position, timeMs)));
  for (const forged of bits.slice(64).map((bit) => flipBit(id, bit)))
    assert.equal((await list(`&cursor=${encoded(forged)}`)).status, own.has(forged) ? 200 : 400);
});

test('a quiet reader’s cursors reveal nothing: they differ whether others had events or not', async () => {
  const cursor = await beginFeed(app, eve.key);
  const pages = await Promise.all(Array.from({ length: 8 }, () => readFeed(app, eve.key, { cursor })));
  assert.ok(new Set(pages.map(({ body }) => body.next_cursor)).size > 4);
});
