import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { readEvents } from '../../test/support/events.ts';
import { until } from '../../test/support/texts.ts';
import type { Call } from '../http/route.ts';
import type { HandsetText } from './handsets.ts';
import { createInboxRoutes, type InboxOptions } from './inbox-api.ts';
import type { InboxFeed, Listener } from './inbox-feed.ts';
import { type InboxStreamOptions, openInboxStream } from './inbox-stream.ts';

const textOf = (id: number): HandsetText => ({
  id,
  applicationId: id % 2 === 0 ? 'app_even' : 'app_odd',
  recipient: '+1',
  messageId: `msg_${id}`,
  attempt: 1,
  receivedAtMs: 0,
});

function createFeed() {
  const listeners = new Set<Listener>();
  const feed: InboxFeed = {
    async subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop: () => {
      for (const listener of listeners) listener.onEnd();
    },
  };
  return { feed, listeners };
}

async function open(options: Partial<InboxStreamOptions> = {}) {
  const { feed, listeners } = createFeed();
  const gone = new AbortController();
  const stream = await openInboxStream({
    feed,
    signal: gone.signal,
    concerns: () => true,
    toItems: async (texts) => texts.map(({ id }) => ({ id, item: { id } })),
    ...options,
  });
  const arrive = (...ids: number[]) => {
    for (const { onTexts } of listeners) onTexts(ids.map(textOf));
  };
  return { stream, feed, listeners, gone, arrive };
}

function collect(stream: Readable): () => string {
  let raw = '';
  stream.on('data', (bytes: Buffer) => {
    raw += bytes.toString('utf8');
  });
  return () => raw;
}

const idsOf = (raw: string) => readEvents(raw).map(({ data }) => JSON.parse(data).id as number);

describe('the inbox stream', () => {
  test('heartbeats between the events break nothing', async () => {
    const { stream, arrive } = await open({ heartbeatMs: 5 });
    const raw = collect(stream);
    for (let id = 1; id <= 5; id++) {
      arrive(id);
      const beats = raw().split(': still here').length;
      await until('another heartbeat', () => raw().split(': still here').length > beats + 1);
    }
    assert.deepEqual(idsOf(raw()), [1, 2, 3, 4, 5]);
    assert.ok(readEvents(raw()).every(({ type, id, data }) => type === 'text' && data === `{"id":${id}}`));
    stream.destroy();
  });

  test('tells what concerns the reader, in the order of arrival even if the first takes longest to render', async () => {
    let delayMs = 60;
    const { stream, arrive } = await open({
      concerns: ({ applicationId }) => applicationId === 'app_odd',
      async toItems(texts) {
        delayMs -= 20;
        await new Promise((done) => setTimeout(done, delayMs));
        return texts.map(({ id }) => ({ id, item: { id } }));
      },
    });
    const raw = collect(stream);
    arrive(1, 2);
    arrive(3);
    arrive(4);
    arrive(5);
    await until('the last', () => idsOf(raw()).includes(5));
    assert.deepEqual(idsOf(raw()), [1, 3, 5]);
    stream.destroy();
  });

  test('ends with the feed, and what comes too late is dropped in silence', async () => {
    const { stream, feed, arrive, listeners } = await open({ heartbeatMs: 5 });
    const raw = collect(stream);
    arrive(1);
    feed.stop();
    arrive(2);
    await new Promise((done) => stream.on('close', done));
    assert.match(raw(), /^retry: 1000\n\n/);
    await until('it to leave the feed', () => listeners.size === 0);
  });

  test('when its texts cannot be read it ends, so that the reader comes back', async () => {
    const { stream, arrive, listeners } = await open({ toItems: () => Promise.reject(new Error('away')) });
    collect(stream);
    arrive(1);
    await new Promise((done) => stream.on('close', done));
    assert.equal(listeners.size, 0);
  });

  test('leaves the feed when the reader goes, also one that went before it was open', async () => {
    const { gone, listeners } = await open();
    gone.abort();
    await until('it to leave the feed', () => listeners.size === 0);
    const aborted = await open({ signal: AbortSignal.abort() });
    await until('it to leave the feed', () => aborted.listeners.size === 0);
    assert.ok(aborted.stream.destroyed);
  });

  test('a reader that does not read is cut off before it fills the memory', async () => {
    const item = { text: 'x'.repeat(1000) };
    const { stream, arrive, listeners } = await open({
      toItems: async (texts) => texts.map(({ id }) => ({ id, item })),
    });
    for (let round = 0; round < 200 && !stream.destroyed; round++) {
      arrive(...Array.from({ length: 50 }, (_, i) => i));
      await new Promise((done) => setImmediate(done));
    }
    assert.ok(stream.destroyed);
    assert.ok(stream.readableLength < 2 * 1024 * 1024);
    await until('it to leave the feed', () => listeners.size === 0);
  });

  test('HEAD asks for the headers only, and leaves nobody behind who listens', async () => {
    const { feed, listeners } = createFeed();
    const routes = createInboxRoutes({ feed } as InboxOptions);
    const stream = routes.find(({ path }) => path.endsWith('/stream'));
    const caller = { kind: 'application', applicationId: 'app', registrationId: 'reg', api: 'sms' } as const;
    const call = { method: 'HEAD', caller, query: {}, signal: new AbortController().signal } as Call;
    const reply = await stream?.handler(call);
    assert.deepEqual([reply?.status, reply?.content], [200, { type: 'text/event-stream', data: '' }]);
    assert.equal(listeners.size, 0);
  });
});
