// The exporter against collectors that are away, slow, or answer badly. Nothing waits for it, and memory has a bound.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { systemClock as clock } from '../../src/platform/clock.ts';
import { createExporter, type Exporter, type ExporterOptions } from '../../src/platform/tracing/exporter.ts';
import { readRetryAfter } from '../../src/platform/tracing/otlp-client.ts';
import { newSpanId, newTraceId } from '../../src/platform/tracing/trace-context.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { freePort } from '../support/process.ts';

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

interface World {
  collector: Collector;
  exporter: Exporter;
  counts: Record<string, number>;
  logLines: string[];
  add(spans?: number): void;
}

async function open(options: Partial<ExporterOptions> & { collector?: Collector } = {}): Promise<World> {
  const { collector = await startCollector(), ...more } = options;
  const { log, lines } = createTestLog();
  const counts: Record<string, number> = { exported: 0, dropped: 0, refused: 0 };
  const exporter = createExporter({
    ...{ clock, log, headers: {}, resource: new Map([['service.name', 'heliograph']]), version: '1' },
    url: `${collector.url}/v1/traces`,
    onCount(name, by) {
      counts[name] = (counts[name] ?? 0) + by;
    },
    ...more,
  });
  opened.push(
    () => collector.close(),
    () => exporter.stop(200),
  );
  const add = (spans = 1) => {
    const now = clock.steadyMs();
    for (let index = 0; index < spans; index++) {
      const ids = { traceId: newTraceId(), spanId: newSpanId(), parentId: '' };
      exporter.add({
        ids,
        name: 'work',
        kind: 'internal',
        startMs: now,
        endMs: now + 1,
        attributes: {},
        failed: false,
      });
    }
  };
  return { collector, exporter, counts, logLines: lines, add };
}

test('spans go out together, and what is left when it stops', async () => {
  const { collector, exporter, counts, add } = await open();
  add(10);
  await eventually('ten spans', () => collector.spans().length === 10);
  assert.equal(collector.requests.length, 1);
  add(3);
  await exporter.stop();
  assert.equal(collector.spans().length, 13);
  assert.deepEqual(counts, { exported: 13, dropped: 0, refused: 0 });
  add();
  assert.equal(collector.spans().length, 13);
});

test('many spans fill several requests, and each arrives once', async () => {
  const { collector, exporter, add } = await open();
  add(12_000);
  await exporter.stop();
  assert.equal(new Set(collector.spans().map(({ spanId }) => spanId)).size, 12_000);
  assert.ok(collector.requests.length > 3);
  assert.ok(collector.requests.every(({ body }) => body.length < 300 * 1024));
});

for (const status of [429, 502, 503, 504]) {
  test(`${status}: the batch is sent again`, async () => {
    const { collector, counts, add } = await open();
    let refusals = 0;
    collector.answer((response) => {
      if (refusals++ === 0) response.writeHead(status, { 'retry-after': '0' }).end('not now');
      else response.writeHead(200).end();
    });
    add(5);
    await eventually('it is exported', () => counts.exported === 5);
    assert.deepEqual(
      collector.requests.map(({ spans }) => spans.length),
      [5, 5],
    );
  });
}

test('Retry-After in seconds or as a date, and never longer than five minutes', () => {
  const nowMs = Date.parse('2026-11-19T08:00:00Z');
  assert.equal(readRetryAfter('7', nowMs), 7000);
  assert.equal(readRetryAfter('Thu, 19 Nov 2026 08:00:30 GMT', nowMs), 30_000);
  assert.equal(readRetryAfter('Thu, 19 Nov 2020 08:00:30 GMT', nowMs), 0);
  assert.equal(readRetryAfter('999999999', nowMs), 300_000);
  for (const bad of [undefined, '', 'soon', '-1', '1e9999', 'x'.repeat(5000)])
    assert.equal(readRetryAfter(bad, nowMs), undefined, bad);
});

test('a wait that it asks for is kept', async () => {
  const { collector, counts, add } = await open();
  collector.answer((response) => void response.writeHead(503, { 'retry-after': '120' }).end());
  add();
  await eventually('the refusal', () => collector.requests.length === 1);
  add();
  await new Promise((done) => setTimeout(done, 2500));
  assert.equal(collector.requests.length, 1);
  assert.equal(counts.exported, 0);
});

for (const status of [400, 401, 404, 413, 301]) {
  test(`${status}: the batch is given up, the next one is sent, and it is logged once`, async () => {
    const { collector, counts, logLines, add } = await open();
    collector.answer((response) => void response.writeHead(status, { location: '/elsewhere' }).end('secret words'));
    add(2);
    await eventually('the first refusal', () => counts.refused === 2);
    add(3);
    await eventually('the second refusal', () => counts.refused === 5);
    assert.equal(collector.requests.length, 2);
    assert.equal(logLines.length, 1);
    assert.ok(logLines[0]?.includes(`HTTP ${status}`) && !logLines[0].includes('secret'));
  });
}

test('an answer whose body never ends: its status counts, and the next batch follows', async () => {
  const { collector, counts, add } = await open();
  const flowing = new Set<NodeJS.Timeout>();
  collector.answer((response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'.repeat(4096)), 5);
    flowing.add(timer);
    response.on('close', () => clearInterval(timer));
  });
  add(2);
  await eventually('the first', () => counts.exported === 2);
  add(3);
  await eventually('the second', () => counts.exported === 5);
  for (const timer of flowing) clearInterval(timer);
});

test('a collector that never answers: the request is given up and repeated', async () => {
  const { collector, counts, add, logLines } = await open({ timeoutMs: 300 });
  let asked = 0;
  collector.answer((response) => {
    if (++asked > 1) response.writeHead(200).end();
  });
  add(4);
  await eventually('the second request', () => counts.exported === 4);
  assert.ok(logLines.some((line) => line.includes('no answer within 0.3 s')));
});

test('a collector that is away: logged once, and the spans arrive when it is back', async () => {
  const port = await freePort();
  const away = { url: `http://127.0.0.1:${port}`, close: async () => {} } as Collector;
  const { counts, logLines, add } = await open({ collector: away });
  add(4);
  await eventually('the failure', () => logLines.length === 1);
  add(3);
  const collector = await startCollector(port);
  opened.push(() => collector.close());
  await eventually('all spans', () => counts.exported === 7);
  assert.equal(logLines.length, 2);
  assert.ok(logLines[1]?.includes('takes spans again'));
});

test('what does not fit into the queue is dropped, the oldest first, and nothing fails', async () => {
  const port = await freePort();
  const away = { url: `http://127.0.0.1:${port}`, close: async () => {} } as Collector;
  const { counts, add, exporter } = await open({ collector: away });
  for (let round = 0; round < 50; round++) add(4000);
  assert.ok((counts.dropped ?? 0) > 50_000, String(counts.dropped));
  const kept = 200_000 - (counts.dropped ?? 0);
  assert.ok(kept * 60 < 10 * 1024 * 1024, `${kept} spans are kept`);
  await exporter.stop(200);
  assert.equal(counts.dropped, 200_000);
});

test('it stops in time, whatever the collector does', async () => {
  const { collector, exporter, add, counts } = await open();
  collector.answer(() => {});
  add(4);
  await eventually('the request', () => collector.requests.length === 1);
  await exporter.stop(100);
  assert.deepEqual([counts.exported, counts.dropped], [0, 4]);
});
