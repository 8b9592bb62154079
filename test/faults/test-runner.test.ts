import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isRunning, makeFolder, processesOn } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Runs a program of ours with a temporary folder of its own, below the one of this run. */
function run(temporary: string, ...args: string[]): { child: ChildProcess; ended: Promise<number | null> } {
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary, NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return { child, ended: new Promise((resolve) => child.once('exit', resolve)) };
}

async function startTests(
  until: RegExp,
): Promise<{ child: ChildProcess; temporary: string; ended: Promise<number | null> }> {
  const temporary = join(makeFolder('run'), 't');
  mkdirSync(temporary);
  const { child, ended } = run(temporary, 'scripts/test.ts', 'platform/batch.test.ts');
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (bytes: Buffer) => until.test(String(bytes)) && resolve());
    void ended.then(() => reject(new Error('the tests ended too early')));
  });
  return { child, temporary, ended };
}

for (const [moment, until] of [
  ['while its Postgres is starting', /starting the database/],
  ['while tests are running', /✔/],
] as const) {
  test(`a test run that is interrupted ${moment} leaves nothing`, async () => {
    const { child, temporary, ended } = await startTests(until);
    child.kill('SIGTERM');
    assert.equal(await ended, 130);
    assert.deepEqual(processesOn(temporary), []);
    assert.deepEqual(
      readdirSync(temporary).filter((name) => name.startsWith('heliograph-')),
      [],
    );
  });
}

test('what a test run that was killed has left is cleared away by the next one', async () => {
  const { child, temporary, ended } = await startTests(/✔/);
  child.kill('SIGKILL');
  await ended;
  const left = processesOn(join(temporary, 'heliograph-test-'));
  assert.ok(left.some(isRunning), 'its Postgres lives on');
  const next = run(temporary, '-e', "import('./test/support/process.ts').then((module) => module.removeLeftovers())");
  assert.equal(await next.ended, 0);
  assert.deepEqual(left.filter(isRunning), []);
  assert.deepEqual(
    readdirSync(temporary).filter((name) => name.startsWith('heliograph-test-')),
    [],
  );
});
