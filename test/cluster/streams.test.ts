// "A stream ends with its credential, and at its token's `exp`", whatever ended it, on every node.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken, revokeToken } from '../support/applications.ts';
import { createTestClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { type EventStream, openEvents } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { createSender, type Sender } from '../support/texts.ts';

const path = '/sandbox/v1/inbox/stream';
const clock = createTestClock();

/** Changes are made at the first; readers are at both. */
let nodes: [TestApp, TestApp];
before(async () => {
  const first = await createTestApp({ clock });
  nodes = [first, await createTestApp({ clock, db: first.db, delivery: 'held' })];
});
after(async () => {
  await nodes[1].close();
  await nodes[0].close();
});

type Headers = Record<string, string>;

async function openEverywhere(headers: Headers, query = ''): Promise<EventStream[]> {
  const streams = await Promise.all(nodes.map((node) => openEvents(node, path + query, headers)));
  assert.deepEqual(
    streams.map(({ status }) => status),
    [200, 200],
  );
  return streams;
}

async function assertEnd(streams: EventStream[]): Promise<void> {
  for (const { ended } of streams) assert.equal(await ended, 'ended');
}

/** Shows that streams are open still: both emit a text. */
async function assertGoOn(sender: Sender, streams: EventStream[]): Promise<void> {
  const { body } = await sender.sms();
  for (const stream of streams) {
    await eventually('the text', () => stream.events().some(({ data }) => JSON.parse(data).message_id === body.id));
    stream.close();
  }
}

const own = (sender: Sender, rest: string) => `/portal/v1/applications/${sender.id}${rest}`;

describe('a stream ends on every node when', () => {
  test('the key of a stream is deleted; the stream of another key goes on', async () => {
    const sender = await createSender(nodes[0]);
    const made = await sender.developer.send<{ api_key: string }>('POST', own(sender, '/keys'), {
      overlap_seconds: 600,
    });
    const streams = await openEverywhere(sender.key);
    const others = await openEverywhere({ apikey: made.body.api_key });
    assert.equal((await sender.developer.send('DELETE', own(sender, `/keys/${sender.keyId}`))).status, 204);
    await assertEnd(streams);
    await assertGoOn({ ...sender, sms: (given) => sender.sms(given, { apikey: made.body.api_key }) }, others);
  });

  test('the token of a stream is revoked; the stream of another token goes on', async () => {
    const sender = await createSender(nodes[0]);
    const token = await getToken(nodes[0], sender.client, 'messaging:send');
    const streams = await openEverywhere(bearer(token));
    const others = await openEverywhere(sender.token);
    await revokeToken(nodes[0], sender.client, token);
    await assertEnd(streams);
    await assertGoOn(sender, others);
  });

  test('the secret that its token came from is rotated without overlap', async () => {
    const sender = await createSender(nodes[0]);
    const streams = await openEverywhere(sender.token);
    await sender.developer.send('POST', own(sender, '/client-secrets'), { overlap_seconds: 0 });
    await assertEnd(streams);
  });

  test('the registration is deleted', async () => {
    const sender = await createSender(nodes[0]);
    const streams = await openEverywhere(sender.key);
    await sender.developer.send('DELETE', own(sender, '/registrations/sms'));
    await assertEnd(streams);
  });

  test('the application is deleted, by whatever it was opened', async () => {
    const sender = await createSender(nodes[0]);
    const streams = [
      ...(await openEverywhere(sender.key)),
      ...(await openEverywhere(sender.token)),
      ...(await openEverywhere({ cookie: sender.developer.cookie }, `?application_id=${sender.id}`)),
    ];
    assert.equal((await sender.developer.send('DELETE', own(sender, ''))).status, 204);
    await assertEnd(streams);
  });

  test('the developer of a stream signs out; the stream of another session goes on', async () => {
    const sender = await createSender(nodes[0]);
    const { email, password, cookie } = sender.developer;
    const signedIn = await send(nodes[0], 'POST', '/portal/v1/sessions', { body: { email, password } });
    const another = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const query = `?application_id=${sender.id}`;
    const streams = await openEverywhere({ cookie }, query);
    const others = await openEverywhere({ cookie: another }, query);
    assert.equal((await sender.developer.send('DELETE', '/portal/v1/sessions/current')).status, 204);
    await assertEnd(streams);
    await assertGoOn(sender, others);
  });

  test('the key or the token of a stream expires', async () => {
    const sender = await createSender(nodes[0]);
    const made = await sender.developer.send<{ api_key: string }>('POST', own(sender, '/keys'), {
      overlap_seconds: 60,
    });
    const byKey = await openEverywhere(sender.key);
    const byToken = await openEverywhere(sender.token);
    const byNewKey = await openEverywhere({ apikey: made.body.api_key });
    clock.advance(60_000);
    await assertEnd(byKey);
    clock.advance(3_540_000);
    await assertEnd(byToken);
    await assertGoOn({ ...sender, sms: (given) => sender.sms(given, { apikey: made.body.api_key }) }, byNewKey);
  });
});
