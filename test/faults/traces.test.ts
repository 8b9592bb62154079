// run: with crashes
// A node dies between accept and submit, and another process goes on with the trace: the row of the text has its place.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Collector, startCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import type { ReceivedSpan } from '../support/otlp-decoder.ts';
import { makeFolder } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';

let collector: Collector;
before(async () => {
  await buildService();
  collector = await startCollector();
});
after(async () => {
  await endServices();
  await collector.close();
});

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
const command: [string, string] = ['node', 'dist/service/main.js'];

/** Sampling by request: the portal and its own calls make no spans here. */
function start(dataDir: string, env: Record<string, string>): Promise<Service> {
  return startService({
    dataDir,
    command,
    env: {
      LOG_LEVEL: 'warn',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      ...env,
    },
  });
}

async function sendText({ url, dataDir }: Service): Promise<void> {
  const file = readFileSync(join(dataDir, 'sandbox-credentials.json'), 'utf8');
  const { applications } = JSON.parse(file) as { applications: { plan: string; api_key: string }[] };
  const apikey = applications.find(({ plan }) => plan === 'enterprise')?.api_key ?? '';
  const response = await fetch(`${url}/sms/v1/messages`, {
    method: 'POST',
    headers: { apikey, traceparent, 'content-type': 'application/json' },
    body: JSON.stringify({ to: '+447700900123', from: 'ACME', message: 'Hello' }),
  });
  assert.equal(response.status, 201, await response.text());
}

function untilSpans(...names: string[]): Promise<ReceivedSpan[]> {
  return eventually(`the spans ${names.join(', ')}, with their parents`, () => {
    const spans = collector.trace(traceId);
    return spans !== undefined && names.every((name) => spans.some((span) => span.name === name)) && spans;
  });
}

test('a node is killed after it accepted a text: one whole trace, with the spans of both', async () => {
  const dataDir = makeFolder('traces');
  const root = 'POST /sms/v1/messages';
  // It accepts on two processes, and never delivers.
  const accepting = await start(dataDir, { HELIOGRAPH_ROLE: 'web', HELIOGRAPH_PROCESSES: '2' });
  await accepting.ready;
  await sendText(accepting);
  await untilSpans(root, 'edge', 'service', 'batch');
  accepting.kill('SIGKILL');
  await accepting.ended;

  const delivering = await start(dataDir, { HELIOGRAPH_PROCESSES: '1' });
  await delivering.ready;
  const spans = await untilSpans(root, 'claim', 'submit', 'receipt');
  assert.deepEqual(
    spans.map(({ name }) => name).sort((one, other) => (one < other ? -1 : 1)),
    [root, 'batch', 'claim', 'edge', 'receipt', 'service', 'submit'],
  );
  const nodeOf = (name: string) => spans.find((span) => span.name === name)?.resource['service.instance.id'];
  assert.notEqual(nodeOf(root), nodeOf('submit'));
  assert.equal(nodeOf('claim'), nodeOf('receipt'));
  delivering.kill('SIGTERM');
  assert.equal((await delivering.ended).code, 0);
});
