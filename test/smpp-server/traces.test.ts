import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRunningClock } from '../support/clock.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { bound, createSmppWorld, type SmppWorld, statusOf } from './world.ts';

let collector: Collector;
let world: SmppWorld;
before(async () => {
  collector = await startCollector();
  world = await createSmppWorld({ clock: createRunningClock(), env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
});
after(async () => {
  await world.close();
  await collector.close();
});

/** The spans of the trace that begins with a submit, once these are among them. */
const untilSpans = (wanted: string[], seen: string[] = []) =>
  eventually(`a trace with ${wanted.join(', ')}`, () => {
    const roots = collector.spans().filter(({ name, traceId }) => name === 'SMPP submit_sm' && !seen.includes(traceId));
    for (const { traceId } of roots) {
      const names = collector
        .spans()
        .filter((span) => span.traceId === traceId)
        .map(({ name }) => name);
      if (wanted.every((name) => names.includes(name))) return collector.trace(traceId);
    }
    return undefined;
  });

test('a submit begins a trace, which goes on with the submit to the carrier and its receipt; its story has the id', async () => {
  const client = await bound(world, world.caller);
  const { messageId } = await client.submit({ destination: '15005550100' });
  const root = 'SMPP submit_sm';
  const spans = await untilSpans([root, 'submit', 'receipt']);
  const nameOf = (spanId: string) => spans.find((span) => span.spanId === spanId)?.name;
  assert.deepEqual(Object.fromEntries(spans.map(({ name, parentId }) => [name, nameOf(parentId)])), {
    ...{ edge: root, service: root, batch: 'service', claim: root, submit: 'claim', receipt: root },
    [root]: undefined,
  });
  const [first] = spans.filter(({ name }) => name === root);
  assert.equal(first?.attributes['heliograph.application_id'], world.caller.id);
  assert.equal(spans.find(({ name }) => name === 'submit')?.attributes['heliograph.message_id'], messageId);

  assert.equal(await statusOf(client, { destination: 'x' }), 0x0b);
  const refused = await untilSpans([root, 'service'], [first?.traceId ?? '']);
  assert.equal(refused.find(({ name }) => name === root)?.attributes['error.type'], 'INVALID_ARGUMENT');
  await world.app.app.metering.flush();
  const { rows } = await world.app.db.database.query<{ traceId: string }>(
    'select trace_id as "traceId" from request_trace where application_id = $1 order by status',
    [world.caller.id],
  );
  assert.deepEqual(
    rows.map(({ traceId }) => traceId),
    [first?.traceId, refused[0]?.traceId],
  );
  client.close();
});
