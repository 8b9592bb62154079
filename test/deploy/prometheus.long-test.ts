// Prometheus's own tool judges the rules of deploy/, and tries them on made-up series.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../support/process.ts';
import { promtool } from './promtool.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the rules are right', () => {
  const { code, said } = promtool('check', 'rules', join(root, 'deploy/prometheus-rules.yml'));
  assert.equal(code, 0, said);
});

test('the configuration is right', () => {
  const folder = makeFolder('prometheus');
  const token = join(folder, 'metrics_token');
  writeFileSync(token, 'a token');
  const text = readFileSync(join(root, 'deploy/prometheus.yml'), 'utf8');
  writeFileSync(join(folder, 'prometheus.yml'), text.replace('/run/secrets/metrics_token', token));
  writeFileSync(join(folder, 'prometheus-rules.yml'), readFileSync(join(root, 'deploy/prometheus-rules.yml')));
  const { code, said } = promtool('check', 'config', join(folder, 'prometheus.yml'));
  assert.equal(code, 0, said);
});

test('alerts are raised when they should be, and not otherwise', () => {
  const { code, said } = promtool('test', 'rules', join(root, 'test/deploy/prometheus-series.yml'));
  assert.equal(code, 0, said);
});
