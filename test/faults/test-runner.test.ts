import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isGroupRunning, isRunning, makeFolder, processesOn } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** `npm test` for one small file, with a temporary folder of its own. */
async function startRun(): Promise<{ child: ChildProcess; temporary: string; ended: Promise<number | null> }> {
  const temporary = join(makeFolder('run'), 't');
  mkdirSync(temporary);
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/test.ts', 'test/faults/database.test.ts'], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary, NODE_TEST_CONTEXT: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  // Its Postgres runs, and the tests have begun.
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (bytes: Buffer) => /whatever happens|✔|▶/.test(String(bytes)) && resolve());
    const watch = setInterval(() => {
      if (processesOn(join(temporary, 'heliograph-test-')).length > 0 && hasRunner(child)) resolve();
      if (child.exitCode !== null) reject(new Error('it ended too early'));
    }, 100);
    child.once('exit', () => clearInterval(watch));
    watch.unref();
  });
  return { child, temporary, ended };
}

function hasRunner({ pid }: ChildProcess): boolean {
  return processesOn('--test-force-exit').some((runner) => runner !== pid && isGroupRunning(runner));
}

test('a test run that is interrupted ends its Postgres and everything else it has started', async () => {
  const { child, temporary, ended } = await startRun();
  child.kill('SIGTERM');
  assert.equal(await ended, 130);
  assert.deepEqual(processesOn(temporary), []);
  assert.deepEqual(readdirSync(temporary), []);
});

test('what a run that was killed has left is cleared away by the next one', async () => {
  const { child, temporary, ended } = await startRun();
  child.kill('SIGKILL');
  await ended;
  const left = processesOn(join(temporary, 'heliograph-test-'));
  assert.ok(left.some(isRunning));
  const folders = readdirSync(temporary);
  const cleaner = spawn(
    process.execPath,
    ['--import', 'tsx', '-e', "import('./test/support/process.ts').then((m) => m.removeLeftovers())"],
    { cwd: root, env: { ...process.env, TMPDIR: temporary }, stdio: 'inherit' },
  );
  children.push(cleaner);
  assert.equal(await new Promise((resolve) => cleaner.once('exit', resolve)), 0);
  for (const name of folders.filter((each) => each.startsWith('heliograph-test-'))) {
    assert.ok(!existsSync(join(temporary, name)), name);
  }
  assert.deepEqual(
    processesOn(join(temporary, 'heliograph-test-')).filter((pid) => left.includes(pid) && isRunning(pid)),
    [],
  );
});
