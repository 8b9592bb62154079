import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeMetrics } from './merge-metrics.ts';
import { createMetrics } from './metrics.ts';

test('counters and histograms add up, gauges of the store count once', async () => {
  const texts = await Promise.all(
    [1, 2].map(async (process) => {
      const metrics = createMetrics();
      metrics.countDelivery('submitted', process);
      metrics.observeRequest('GET', '/healthz', 200, 0.002 * process);
      if (process === 2) metrics.observeRequest('GET', '/readyz', 503, 1);
      metrics.gauge('heliograph_side_requests', 'In progress', () => process);
      metrics.gauges('heliograph_carrier_up', 'Up', ['carrier'], () => [{ labels: ['acme'], value: 1 }]);
      metrics.gauge('heliograph_window_store_in_use', 'In use', () => process - 1);
      return metrics.text();
    }),
  );
  const merged = mergeMetrics(texts).split('\n');
  for (const line of [
    'heliograph_delivery_total{event="submitted"} 3',
    'heliograph_http_request_seconds_bucket{le="0.0025",method="GET",route="/healthz",status="200"} 1',
    'heliograph_http_request_seconds_bucket{le="+Inf",method="GET",route="/healthz",status="200"} 2',
    'heliograph_http_request_seconds_count{method="GET",route="/readyz",status="503"} 1',
    'heliograph_side_requests 3',
    'heliograph_carrier_up{carrier="acme"} 1',
    'heliograph_window_store_in_use 0',
  ]) {
    assert.ok(merged.includes(line), `${line} is missing:\n${merged.join('\n')}`);
  }
  const helps = merged.filter((line) => line.startsWith('# HELP'));
  assert.equal(new Set(helps).size, helps.length, 'each family has one HELP line');
});

test('the counts of an ended process stay', async () => {
  const metrics = createMetrics();
  metrics.countDelivery('submitted', 5);
  metrics.gauge('heliograph_side_requests', 'In progress', () => 7);
  const kept = mergeMetrics(['', await metrics.text()], 'counts');
  assert.match(kept, /^heliograph_delivery_total\{event="submitted"\} 5$/m);
  assert.doesNotMatch(kept, /heliograph_side_requests/);
  assert.match(mergeMetrics([kept, await metrics.text()]), /^heliograph_delivery_total\{event="submitted"\} 10$/m);
});
