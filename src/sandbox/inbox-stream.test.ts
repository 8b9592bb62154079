import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { readEvents } from '../../test/support/events.ts';
import { until } from '../../test/support/texts.ts';
import type { Call } from '../http/route.ts';
import { createInboxRoutes, type InboxOptions } from './inbox-api.ts';
import type { InboxEvent, InboxFeed, InboxListener } from './inbox-feed.ts';
import { type InboxStreamOptions, openInboxStream } from './inbox-stream.ts';

const eventOf = (id: number): InboxEvent => ({
  id,
  to: id % 2 === 0 ? '+2' : '+1',
  written: `event: text\nid: ${id}\ndata: {"id":${id}}\n\n`,
});

function createFeed() {
  const listeners = new Set<InboxListener>();
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
  let endCredential: (() => void) | undefined;
  const stream = await openInboxStream({
    feed,
    applicationId: 'app',
    signal: gone.signal,
    onCredentialEnd(act) {
      endCredential = act;
      return () => {
        endCredential = undefined;
      };
    },
    ...options,
  });
  const arrive = (...ids: number[]) => {
    for (const { onTexts } of listeners) onTexts(ids.map(eventOf));
  };
  return {
    stream,
    feed,
    listeners,
    gone,
    arrive,
    credential: { end: () => endCredential?.(), isWatched: () => endCredential !== undefined },
  };
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

  test('only texts to the number that was asked for', async () => {
    const { stream, arrive } = await open({ to: '+1' });
    const raw = collect(stream);
    arrive(1, 2);
    arrive(3);
    arrive(4);
    arrive(5);
    await until('the last', () => idsOf(raw()).includes(5));
    assert.deepEqual(idsOf(raw()), [1, 3, 5]);
    stream.destroy();
  });

  test('a reader that comes back is told what it missed, then what arrives, each once and in order', async () => {
    let tellMore = () => {};
    const more = new Promise<void>((resolve) => {
      tellMore = resolve;
    });
    const { stream, arrive } = await open({
      async *missed() {
        yield [4, 5].map(eventOf);
        await more;
        yield [6, 7].map(eventOf);
      },
    });
    const raw = collect(stream);
    arrive(7, 8);
    await until('the first of them', () => idsOf(raw()).includes(5));
    assert.deepEqual(idsOf(raw()), [4, 5]);
    tellMore();
    await until('the live one', () => idsOf(raw()).includes(8));
    arrive(9);
    await until('the next', () => idsOf(raw()).includes(9));
    assert.deepEqual(idsOf(raw()), [4, 5, 6, 7, 8, 9]);
    stream.destroy();
  });

  test('a reader that missed nothing is not told again what the feed, which is behind, brings', async () => {
    const { stream, arrive } = await open({ after: 5, async *missed() {} });
    const raw = collect(stream);
    arrive(4, 5, 6);
    await until('the new one', () => idsOf(raw()).includes(6));
    assert.deepEqual(idsOf(raw()), [6]);
    stream.destroy();
  });

  test('ends with the credential that opened it, and tells nothing more', async () => {
    const { stream, arrive, listeners, credential } = await open();
    const raw = collect(stream);
    arrive(1);
    credential.end();
    arrive(2);
    await new Promise((done) => stream.on('close', done));
    assert.deepEqual(idsOf(raw()), [1]);
    await until('it to leave the feed', () => listeners.size === 0);
    assert.ok(!credential.isWatched());
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

  test('when the missed texts cannot be read it ends, so that the reader comes back', async () => {
    const { stream, listeners } = await open({
      // biome-ignore lint/correctness/useYield: it fails before it comes to that.
      async *missed() {
        throw new Error('away');
      },
    });
    collect(stream);
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
    const { stream, listeners } = await open();
    const written = `data: ${'x'.repeat(1000)}\n\n`;
    for (let id = 1; id < 10_000 && !stream.destroyed; id++) {
      for (const { onTexts } of listeners) onTexts([{ id, to: '+1', written }]);
      if (id % 50 === 0) await new Promise((done) => setImmediate(done));
    }
    assert.ok(stream.destroyed);
    assert.ok(stream.readableLength < 2 * 1024 * 1024);
    await until('it to leave the feed', () => listeners.size === 0);
  });

  test('HEAD asks for the headers only, and opens no stream', async () => {
    const routes = createInboxRoutes({} as InboxOptions);
    const stream = routes.find(({ path }) => path.endsWith('/stream'));
    const caller = { kind: 'application', applicationId: 'app', registrationId: 'reg', api: 'sms' } as const;
    const call = { method: 'HEAD', caller, query: {}, signal: new AbortController().signal } as Call;
    const reply = await stream?.handler(call);
    assert.deepEqual([reply?.status, reply?.content?.type, reply?.content?.data], [200, 'text/event-stream', '']);
  });
});
