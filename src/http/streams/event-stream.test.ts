import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { readEvents } from '../../../test/support/events.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { type EventStreamOptions, openEventStream } from './event-stream.ts';
import type { LiveFeed, LiveItem, LiveListener, Piece } from './live-feed.ts';

const itemOf = (position: number): LiveItem => ({
  position,
  applicationId: 'app',
  written: `event: text\nid: ${position}\ndata: {"id":${position}}\n\n`,
});

const pieceOf = (...positions: number[]): Piece<LiveItem> => ({
  items: positions.map(itemOf),
  readTo: positions.at(-1) ?? 0,
  more: false,
});

type Feed = LiveFeed<LiveItem, object>;

function createFeed(from: number | undefined) {
  const listeners = new Set<LiveListener<LiveItem, object>>();
  const feed: Feed = {
    async subscribe(listener, after) {
      listeners.add(listener);
      return { from: from ?? after ?? 0, leave: () => void listeners.delete(listener) };
    },
    stop: () => {
      for (const listener of listeners) listener.onEnd();
    },
  };
  return { feed, listeners };
}

/** `from` is where the feed is when a reader joins it; by default, where the reader is. */
async function open({ from, ...options }: Partial<EventStreamOptions<LiveItem, object>> & { from?: number } = {}) {
  const { feed, listeners } = createFeed(from);
  const gone = new AbortController();
  let endCredential: (() => void) | undefined;
  const stream = await openEventStream<LiveItem, object>({
    feed,
    applicationId: 'app',
    filter: {},
    after: undefined,
    returning: false,
    async *readMissed() {},
    heartbeat: (reached) => `id: ${reached}\n: still here\n\n`,
    signal: gone.signal,
    onCredentialEnd(act) {
      endCredential = act;
      return () => {
        endCredential = undefined;
      };
    },
    ...options,
  });
  const arrive = (...positions: number[]) => {
    for (const { onItems } of listeners) onItems(positions.map(itemOf), positions.at(-1) ?? 0);
  };
  const readTo = (position: number) => {
    for (const { onItems } of listeners) onItems([], position);
  };
  return {
    stream,
    feed,
    listeners,
    gone,
    arrive,
    readTo,
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

/** The last event id by the HTML standard: an event without data sets it, too. */
const lastIdOf = (raw: string) =>
  raw
    .slice(0, raw.lastIndexOf('\n\n') + 2)
    .split('\n')
    .findLast((line) => line.startsWith('id: '))
    ?.slice(4);

describe('an event stream', () => {
  test('heartbeats between the events break nothing', async () => {
    const { stream, arrive } = await open({ heartbeatMs: 5 });
    const raw = collect(stream);
    for (let id = 1; id <= 5; id++) {
      arrive(id);
      const beats = raw().split(': still here').length;
      await eventually('another heartbeat', () => raw().split(': still here').length > beats + 1);
    }
    assert.deepEqual(idsOf(raw()), [1, 2, 3, 4, 5]);
    assert.ok(
      readEvents(raw()).every(({ type, id, data }) => type === 'text' && data === `{"id":${id}}`),
      'each event is whole',
    );
    stream.destroy();
  });

  test('sends a new reader its position at once, and its progress by heartbeats', async () => {
    const { stream, arrive, readTo } = await open({ from: 7, heartbeatMs: 5 });
    const raw = collect(stream);
    await eventually('its place', () => lastIdOf(raw()) === '7');
    assert.match(raw(), /^retry: 1000\n\nid: 7\n/);
    arrive(9);
    await eventually('the event', () => lastIdOf(raw()) === '9');
    // The feed has read further, and found nothing for this reader.
    readTo(12);
    await eventually('a heartbeat that says so', () => lastIdOf(raw()) === '12');
    assert.deepEqual(idsOf(raw()), [9]);
    stream.destroy();
  });

  test('a reader that comes back gets what it missed, then what the feed has passed, then new events', async () => {
    let sendMore = () => {};
    const more = new Promise<void>((resolve) => {
      sendMore = resolve;
    });
    const asked: number[] = [];
    const { stream, arrive, listeners } = await open({
      after: 3,
      from: 7,
      returning: true,
      async *readMissed(after) {
        asked.push(after);
        if (after === 3) yield pieceOf(4, 5);
        else {
          await more;
          yield pieceOf(6, 7);
        }
      },
    });
    const raw = collect(stream);
    await eventually('it to join', () => listeners.size === 1);
    arrive(7, 8);
    await eventually('the first of them', () => idsOf(raw()).includes(5));
    assert.deepEqual(idsOf(raw()), [4, 5]);
    sendMore();
    await eventually('the live one', () => idsOf(raw()).includes(8));
    arrive(9);
    await eventually('the next', () => idsOf(raw()).includes(9));
    assert.deepEqual(idsOf(raw()), [4, 5, 6, 7, 8, 9]);
    assert.deepEqual(asked, [3, 5]);
    stream.destroy();
  });

  test('a new reader gets what the feed has passed between its position and its joining', async () => {
    const { stream, arrive } = await open({
      after: 3,
      from: 5,
      async *readMissed(after) {
        assert.equal(after, 3);
        yield pieceOf(4, 5);
      },
    });
    const raw = collect(stream);
    arrive(6);
    await eventually('the last', () => idsOf(raw()).includes(6));
    assert.deepEqual(idsOf(raw()), [4, 5, 6]);
    stream.destroy();
  });

  test('a reader that missed nothing gets no repeats from a feed that is behind', async () => {
    const { stream, arrive, listeners } = await open({ after: 5, from: 3, returning: true });
    const raw = collect(stream);
    await eventually('it to join', () => listeners.size === 1);
    arrive(4, 5, 6);
    await eventually('the new one', () => idsOf(raw()).includes(6));
    assert.deepEqual(idsOf(raw()), [6]);
    stream.destroy();
  });

  test('a heartbeat never names what is still to be sent', async () => {
    let reads = 0;
    let sendMore = () => {};
    const more = new Promise<void>((resolve) => {
      sendMore = resolve;
    });
    const { stream, arrive, listeners } = await open({
      after: 3,
      from: 5,
      returning: true,
      heartbeatMs: 2,
      async *readMissed(after) {
        assert.equal(after, 3);
        if (++reads === 1) return;
        await more;
        yield pieceOf(4, 5);
      },
    });
    const raw = collect(stream);
    await eventually('it to join', () => listeners.size === 1);
    arrive(6);
    const beats = raw().split(': still here').length;
    await eventually('heartbeats', () => raw().split(': still here').length > beats + 3);
    assert.equal(lastIdOf(raw()), '3');
    sendMore();
    await eventually('the end', () => lastIdOf(raw()) === '6');
    assert.deepEqual(idsOf(raw()), [4, 5, 6]);
    stream.destroy();
  });

  test('ends with the credential that opened it, and sends nothing more', async () => {
    const { stream, arrive, listeners, credential } = await open();
    const raw = collect(stream);
    arrive(1);
    credential.end();
    arrive(2);
    await new Promise((done) => stream.on('close', done));
    assert.deepEqual(idsOf(raw()), [1]);
    await eventually('it to leave the feed', () => listeners.size === 0);
    assert.ok(!credential.isWatched(), 'the credential is watched no more');
  });

  test('ends with its credential while missed events are sent', async () => {
    let pieces = 0;
    const { stream, listeners, credential } = await open({
      after: 1,
      returning: true,
      async *readMissed() {
        for (;;) {
          pieces++;
          yield pieceOf(pieces + 1);
          await new Promise((done) => setImmediate(done));
        }
      },
    });
    collect(stream);
    await eventually('some', () => pieces > 3);
    credential.end();
    await new Promise((done) => stream.on('close', done));
    assert.equal(listeners.size, 0);
  });

  test('ends with the feed, and what comes too late is dropped in silence', async () => {
    const { stream, feed, arrive, listeners } = await open({ heartbeatMs: 5 });
    const raw = collect(stream);
    arrive(1);
    feed.stop();
    arrive(2);
    await new Promise((done) => stream.on('close', done));
    assert.match(raw(), /^retry: 1000\n\n/);
    await eventually('it to leave the feed', () => listeners.size === 0);
  });

  test('when what was missed cannot be read it ends, so that the reader comes back', async () => {
    const { stream, listeners } = await open({
      after: 0,
      returning: true,
      // biome-ignore lint/correctness/useYield: it fails before it comes to that.
      async *readMissed() {
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
    await eventually('it to leave the feed', () => listeners.size === 0);
    const aborted = await open({ signal: AbortSignal.abort() });
    await eventually('it to leave the feed', () => aborted.listeners.size === 0);
    assert.ok(aborted.stream.destroyed, 'the stream is gone');
  });

  test('a reader that does not read is cut off before it fills the memory', async () => {
    const { stream, listeners } = await open();
    const written = `data: ${'x'.repeat(1000)}\n\n`;
    for (let position = 1; position < 10_000 && !stream.destroyed; position++) {
      for (const { onItems } of listeners) onItems([{ position, applicationId: 'app', written }], position);
      if (position % 50 === 0) await new Promise((done) => setImmediate(done));
    }
    assert.ok(stream.destroyed, 'it was cut off');
    assert.ok(stream.readableLength < 2 * 1024 * 1024, 'before it filled the memory');
    await eventually('it to leave the feed', () => listeners.size === 0);
  });

  test('one that does not read what it missed is read to slowly, and not cut off', async () => {
    let sent = 0;
    const { stream } = await open({
      after: 0,
      returning: true,
      async *readMissed() {
        for (;;) {
          sent++;
          const written = `data: ${'x'.repeat(10_000)}\n\n`;
          yield { items: [{ position: sent, applicationId: 'app', written }], readTo: sent, more: true };
        }
      },
    });
    await new Promise((done) => setTimeout(done, 50));
    assert.ok(sent < 100, 'it waits for the reader');
    assert.ok(!stream.destroyed, 'the stream is open');
    stream.destroy();
  });
});
