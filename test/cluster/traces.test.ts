// What a caller may ask of traces, on all nodes together: 10 a second (section 22 of the contract).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createTestClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createSender, text } from '../support/texts.ts';

let nodes: TestApp[];
before(async () => {
  const env = {
    // No collector is there: a story has its trace id all the same.
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
  };
  // The clock stands still: all requests are of one second.
  const clock = createTestClock();
  const one = await createTestApp({ delivery: 'held', env, clock });
  nodes = [one, await createTestApp({ delivery: 'held', env, clock, db: one.db })];
});
after(async () => {
  for (const node of [...nodes].reverse()) await node.close();
});

test('two nodes sample ten traces of a second for a caller that asks both for twenty', async () => {
  const [one] = nodes as [TestApp];
  const sender = await createSender(one);
  await eventually('each node knows of the other', () => nodes.every(({ app }) => app.registry.feed.liveCount === 2));
  one.clock.advance(1000);
  const ids: string[] = [];
  for (let index = 0; index < 40; index++) {
    const traceparent = `00-${'ab'.repeat(12)}${String(index).padStart(8, '0')}-00f067aa0ba902b7-01`;
    const headers = { ...sender.key, traceparent };
    const node = nodes[index % 2] as TestApp;
    const { status, headers: answered } = await send(node, 'POST', '/sms/v1/messages', { headers, body: text });
    assert.equal(status, 201);
    ids.push(answered.get('x-correlation-id') ?? '');
  }
  const traced = await Promise.all(
    ids.map(async (id) => {
      const { body } = await sender.developer.send<{ trace_id: string | null }>('GET', `/portal/v1/requests/${id}`);
      return body.trace_id !== null;
    }),
  );
  assert.equal(traced.filter(Boolean).length, 10);
});
