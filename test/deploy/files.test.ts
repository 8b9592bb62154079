// What the files of deploy/ say about the service is true: settings, paths and files of the package.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { settings } from '../../src/settings/settings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8');
const [compose, container, unit, environment] = [
  read('compose.yaml'),
  read('Containerfile'),
  read('heliograph.service'),
  read('heliograph.env'),
];

test('every setting that they name is one', () => {
  const named = [compose, container, unit, environment].flatMap((text) =>
    [...text.matchAll(/^\s*(?:ENV )?(HELIOGRAPH_\w+|DATABASE_URL|REDIS_URL)(?=[:=])/gm)].map(([, name = '']) => name),
  );
  assert.ok(named.includes('HELIOGRAPH_TRUSTED_PROXIES') && named.includes('REDIS_URL'), 'settings are found');
  assert.deepEqual(
    named.filter((name) => !Object.hasOwn(settings, name)),
    [],
  );
});

test('no secret has a default', () => {
  const given = [...compose.matchAll(/\$\{(\w*(?:SECRET|PASSWORD|TOKEN)\w*)(:?[-?]?)/g)];
  assert.ok(given.length >= 4, 'secrets are found');
  for (const [, name, operator] of given) assert.equal(operator, ':?', `${name} must be required`);
  assert.match(environment, /^HELIOGRAPH_SECRET=$/m);
});

test('the programs that they start are in the package', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
  for (const text of [container, unit]) {
    const [, program = ''] = /\/opt\/heliograph\/node_modules\/heliograph\/(cli\/\S+)/.exec(text) ?? [];
    assert.ok(existsSync(join(root, program)) && files.includes('cli/bin'), `${program} is there`);
  }
  for (const folder of ['deploy', 'migrations', 'portal/dist']) assert.ok(files.includes(folder), folder);
});

test('HAProxy asks what the service answers, and is among the proxies that it trusts', () => {
  const balancer = read('haproxy.cfg');
  assert.match(balancer, /uri \/readyz /);
  const [, subnet] = /subnet: (\S+)/.exec(compose) ?? [];
  assert.ok(compose.includes(`HELIOGRAPH_TRUSTED_PROXIES: ${subnet}\n`), `compose trusts ${subnet}`);
  const nodes = [...balancer.matchAll(/^\s+server \w+ (\w+):8080$/gm)].map(([, name = '']) => name);
  assert.deepEqual(nodes, ['node1', 'node2']);
  for (const name of nodes) assert.match(compose, new RegExp(`^  ${name}:$`, 'm'));
});

test('the dashboard has panels with titles, units and questions, and none twice', () => {
  const { panels } = JSON.parse(read('grafana-dashboard.json')) as {
    panels: { id: number; title: string; type: string; targets?: { expr: string }[] }[];
  };
  const shown = panels.filter(({ type }) => type !== 'row');
  assert.ok(shown.length >= 20, `${shown.length} panels`);
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length);
  for (const { title, targets = [] } of shown) assert.ok(targets.length > 0, `${title} asks for something`);
});
