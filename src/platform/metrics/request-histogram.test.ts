import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram, Registry } from 'prom-client';
import { createRequestHistogram } from './request-histogram.ts';

test('it writes what prom-client writes for the same requests', async () => {
  const help = 'How long';
  const registry = new Registry();
  const theirs = new Histogram({
    name: 'request_seconds',
    help,
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  const ours = createRequestHistogram('request_seconds', help);
  for (const seconds of [0, 0.001, 0.00100001, 0.5, 4.99, 5, 5.1, 60]) {
    for (const [method, route, status] of [
      ['GET', '/sms/v1/messages/{id}', 200],
      ['POST', 'unknown', 404],
    ] as const) {
      theirs.labels(method, route, String(status)).observe(seconds);
      ours.observe(method, route, status, seconds);
    }
  }
  assert.deepEqual(linesOf(ours.text()), linesOf(await registry.metrics()));
});

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}
