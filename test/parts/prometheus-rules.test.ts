// deploy/prometheus-rules.yml speaks of the same alerts as the service; it and the dashboard use metrics that the service has.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { alertKinds } from '../../src/quality/alerts/alert.ts';
import { answerBounds } from '../../src/quality/answer-times.ts';
import { createTestApp } from '../support/app.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const rules = readFileSync(`${root}deploy/prometheus-rules.yml`, 'utf8');
/** This app has no Redis, so it has no metrics of it. */
const onlyWithRedis = readFileSync(`${root}src/compose/windows.ts`, 'utf8');
const dashboard = JSON.parse(readFileSync(`${root}deploy/grafana-dashboard.json`, 'utf8')) as {
  panels: { title: string; type: string; targets?: { expr: string }[] }[];
};

test('each alert has a rule', () => {
  const named = [...rules.matchAll(/- alert: Heliograph(\w+)/g)].map(([, name = '']) =>
    name.replaceAll(/(?<!^)([A-Z])/g, '_$1').toLowerCase(),
  );
  assert.deepEqual(new Set(named), new Set(alertKinds));
});

test('rules and the dashboard use metrics that /metrics has, with labels that these have', async () => {
  const asked = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
  assert.ok(asked.length > 1000, 'the dashboard asks for something');
  const app = await createTestApp({ delivery: 'held' });
  await app.app.alerts.stop();
  app.app.metrics.countText('acme', 'GB', 'accepted', 1);
  app.app.metrics.addAnswerTimes('acme', [1, ...answerBounds.map(() => 0)], 1);
  const text = await app.app.metrics.text();
  const names = `${rules}\n${asked}`.matchAll(/\b(?:heliograph|nodejs|process)_\w+/g);
  for (const name of new Set([...names].map(([found]) => found))) {
    const family = name.replace(/_(bucket|count)$/, '');
    const isThere = text.includes(`# TYPE ${family} `) || onlyWithRedis.includes(`'${family}'`);
    assert.ok(isThere, `${name} is a metric`);
  }
  assert.ok(text.includes('heliograph_texts_total{carrier="acme",country="GB",event="accepted"} 1'), 'the labels');
  for (const bound of answerBounds)
    assert.ok(text.includes(`heliograph_answer_seconds_bucket{le="${bound / 1000}",carrier="acme"} 1`), `${bound} ms`);
  await app.close();
});
