// deploy/prometheus-rules.yml speaks of the same alerts as the service, by metrics that the service has.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { alertKinds } from '../../src/quality/alert.ts';
import { answerBounds } from '../../src/quality/answer-times.ts';
import { createTestApp } from '../support/app.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rules = readFileSync(`${root}deploy/prometheus-rules.yml`, 'utf8');

test('there is a rule for each alert', () => {
  const named = [...rules.matchAll(/- alert: Heliograph(\w+)/g)].map(([, name = '']) =>
    name.replaceAll(/(?<!^)([A-Z])/g, '_$1').toLowerCase(),
  );
  assert.deepEqual(new Set(named), new Set(alertKinds));
});

test('rules use metrics that /metrics has, with labels that these have', async () => {
  const app = await createTestApp({ delivery: 'held' });
  await app.app.alerts.stop();
  app.app.metrics.countText('acme', 'GB', 'accepted', 1);
  app.app.metrics.addAnswerTimes('acme', [1, ...answerBounds.map(() => 0)], 1);
  const text = await app.app.metrics.text();
  const used = new Set([...rules.matchAll(/heliograph_\w+/g)].map(([name]) => name));
  for (const name of used) {
    const family = name.replace(/_(bucket|count)$/, '');
    assert.ok(text.includes(`# TYPE ${family} `), `${name} is a metric`);
  }
  assert.ok(text.includes('heliograph_texts_total{carrier="acme",country="GB",event="accepted"} 1'), 'the labels');
  for (const bound of answerBounds)
    assert.ok(text.includes(`heliograph_answer_seconds_bucket{le="${bound / 1000}",carrier="acme"} 1`), `${bound} ms`);
  await app.close();
});
