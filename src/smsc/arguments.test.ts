import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpText, readArguments } from './arguments.ts';
import { switchNames } from './faults.ts';

function read(line: string) {
  return readArguments(line.split(' ').filter((word) => word !== ''));
}

test('without options: the usual ports, any password, the usual behaviour', () => {
  assert.deepEqual(read(''), { port: 2775, pagePort: 2780, password: undefined, behaviour: {} });
});

test('ports, password, switches; with a space or =', () => {
  assert.deepEqual(read('--port 0 --page-port=8080 --password p4ss --ids hex-dec --throttle-every=3 --wrong-ids'), {
    port: 0,
    pagePort: 8080,
    password: 'p4ss',
    behaviour: { ids: 'hex-dec', throttle_every: 3, wrong_ids: true },
  });
  const statuses = read('--refuse-every 1 --refuse-status 0x0b --bind-status 13');
  assert.ok(statuses !== 'help', 'no help');
  assert.deepEqual(statuses.behaviour, { refuse_every: 1, refuse_status: 11, bind_status: 13 });
});

test('times: 500, 500ms, 2s', () => {
  for (const [line, ms] of [
    ['--receipt-after 500', 500],
    ['--receipt-after 500ms', 500],
    ['--receipt-after-ms 2s', 2000],
  ] as const) {
    const found = read(line);
    assert.ok(found !== 'help', 'no help');
    assert.equal(found.behaviour.receipt_after_ms, ms);
  }
});

test('an option that cannot be used is named', () => {
  assert.throws(() => read('--prot 1'), /Unknown option --prot/);
  assert.throws(() => read('--port'), /--port needs a value/);
  assert.throws(() => read('--port 70000'), /--port must be a port/);
  assert.throws(() => read('--ids roman'), /ids must be one of dec, hex/);
  assert.throws(() => read('--slow soon'), /slow_ms must be a whole number/);
  assert.throws(() => read('--throttle-every -1'), /throttle_every must be/);
  assert.throws(() => read('--wrong-ids=maybe'), /wrong_ids must be true or false/);
});

test('help names every option', () => {
  assert.equal(read('--port 1 --help'), 'help');
  for (const name of switchNames) assert.ok(helpText().includes(`--${name.replaceAll('_', '-')}`), name);
});
