// run: with starts
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createJobs } from '../../scripts/test-jobs.ts';
import { isRunning, makeFolder, processesOn } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
});

interface Run {
  child: ChildProcess;
  ended: Promise<number | null>;
  output(): string;
}

/** The run that this file is a part of has compiled everything; the runs that it starts need not do it again. */
const compiled = join(process.env.HELIOGRAPH_TEST_FOLDER ?? '', 'compiled');

const testScript = join(compiled, 'scripts/test.js');

/** Runs a program of ours with a temporary folder of its own, below the one of this run. */
function run(temporary: string, args: string[], env: NodeJS.ProcessEnv = {}): Run {
  const own = { TMPDIR: temporary, NODE_TEST_CONTEXT: undefined, HELIOGRAPH_TEST_COMPILED: compiled };
  // `--times` and `--record-times` of this run are not meant for those.
  const once = { HELIOGRAPH_TEST_TIMES: undefined, HELIOGRAPH_TEST_RECORD_TIMES: undefined };
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...own, ...once, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output += bytes.toString('utf8');
    });
  }
  return { child, ended: new Promise((resolve) => child.once('close', resolve)), output: () => output };
}

function makeTemporary(): string {
  const temporary = join(makeFolder('run'), 't');
  mkdirSync(temporary);
  return temporary;
}

async function startTests(until: RegExp): Promise<Run & { temporary: string }> {
  const temporary = makeTemporary();
  const running = run(temporary, [testScript, 'parts/batch.test.ts']);
  await new Promise<void>((resolve, reject) => {
    running.child.stdout?.on('data', () => until.test(running.output()) && resolve());
    void running.ended.then(() => reject(new Error(`the tests ended too early:\n${running.output()}`)));
  });
  return { ...running, temporary };
}

test('of files that share a process, an error outside of all promises fails the test that runs, and no other', async () => {
  const folder = makeTemporary();
  const before = "import { describe, test } from 'node:test';\n";
  const pause = 'await new Promise((done) => setTimeout(done, 20));';
  const throwing = 'setTimeout(() => { throw new Error("the timer\u2019s"); }, 5); await new Promise(() => {});';
  const files = [
    `test('good one', async () => { ${pause} });
     describe('suite', () => test('outer', (t) => t.test('inner', async () => { ${throwing} })));`,
    `test('rejected', async () => { void Promise.reject(new Error('the promise\u2019s')); ${pause} });
     test('good two', async () => { ${pause} });`,
  ].map((text, place) => {
    writeFileSync(join(folder, `${place}.test.mjs`), before + text);
    return join(folder, `${place}.test.mjs`);
  });
  const [tracking, importer] = ['lighter-tracking', 'import-test-files'].map((name) =>
    join(compiled, 'scripts', `${name}.js`),
  );
  const started = run(folder, ['--import', tracking ?? '', '--test-reporter=tap', importer ?? '', ...files]);
  assert.equal(await started.ended, 1);
  const lines = [...started.output().matchAll(/(ok|not ok) \d+ - (good one|good two|suite|outer|inner|rejected)$/gm)];
  assert.deepEqual(
    lines.map(([, result, name]) => `${result} ${name}`),
    ['ok good one', 'not ok inner', 'not ok outer', 'not ok suite', 'not ok rejected', 'ok good two'],
  );
});

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
  const support = join(compiled, 'test/support/process.js');
  const next = run(temporary, ['-e', `import('${support}').then((module) => module.removeLeftovers())`]);
  assert.equal(await next.ended, 0);
  assert.deepEqual(left.filter(isRunning), []);
  assert.deepEqual(
    readdirSync(temporary).filter((name) => name.startsWith('heliograph-test-')),
    [],
  );
});

test('a pure test file is run with nothing but Node', async () => {
  const { ended, output } = run(makeTemporary(), [testScript, 'edge/limit-refusal']);
  assert.equal(await ended, 0, output());
  assert.match(output(), /^Tests: 1 test file, with nothing but Node\.$/m);
  assert.doesNotMatch(output(), /database|building/);
  assert.match(output(), /ℹ pass [1-9]/);
});

test('a failure is named, shown and reported by the exit code', async () => {
  const file = join(makeFolder('failing'), 'failing.test.ts');
  writeFileSync(file, `import test from 'node:test'; test('it breaks', () => { throw new Error('as it must'); });`);
  const good = 'src/edge/limit-refusal.test.ts';
  const { ended, output } = run(makeTemporary(), [
    join(compiled, 'scripts/run-test-files.js'),
    good,
    relative(root, file),
  ]);
  assert.equal(await ended, 1);
  const end = output().slice(output().lastIndexOf('ℹ tests'));
  assert.match(end, /ℹ fail 1\n/);
  assert.match(end, /failing tests:.*failing\.test\.ts.*it breaks.*as it must/s);
});

test('contract and socket tests run once for each lane, races too in the long form', () => {
  const files = [
    'src/edge/same-site.test.ts',
    'test/contract/errors.test.ts',
    // It sends no request.
    'test/contract/list-cost.test.ts',
    // The lane is behind it.
    'test/contract/portal-usage.test.ts',
    'test/races/idempotency.test.ts',
    'test/socket/connections.test.ts',
  ];
  const again = (long: boolean) =>
    createJobs(files, { unitJobs: 2, long }).flatMap(({ name, env }) =>
      env.HELIOGRAPH_HTTP_LANE === 'node' ? name : [],
    );
  assert.deepEqual(again(false).toSorted(), [
    'test/contract/errors.test.ts (node lane)',
    'test/socket/connections.test.ts (node lane)',
  ]);
  assert.equal(again(true).length, 4);
});

describe('on a machine without Redis and Chromium, where neither can be installed', () => {
  /** A folder with every program of this machine but those. */
  const without = { PATH: makeFolder('programs'), CHROMIUM: undefined, CI: undefined };
  before(() => {
    const hidden = [
      'redis-server',
      'chromium-headless-shell',
      'chromium',
      'chromium-browser',
      'google-chrome',
      'apt-get',
    ];
    for (const place of (process.env.PATH ?? '').split(':').filter(isFolder)) {
      for (const name of readdirSync(place)) {
        const link = join(without.PATH, name);
        if (!hidden.includes(name) && !isThere(link)) symlinkSync(join(place, name), link);
      }
    }
  });
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  const some = [testScript, 'edge/limit-refusal', 'parts/redis-windows', 'test/browser'];

  test('the rest is tested and passes, and the end says what was not tested and how to get it', async () => {
    const { ended, output } = run(makeTemporary(), some, without);
    assert.equal(await ended, 0, output());
    assert.match(output(), /ℹ pass [1-9]/);
    const end = output().slice(output().indexOf('ℹ duration_ms'));
    assert.match(end, /NOT TESTED: 1 test file, because redis-server is not installed/);
    assert.match(end, /test\/parts\/redis-windows\.test\.ts\nTo test them too: apt-get install redis-server/);
    assert.match(end, /NOT TESTED: \d+ test files, because chromium is not installed/);
    assert.match(end, /test\/browser\/\w+\.test\.ts\nTo test them too: .*CHROMIUM=/);
  });

  for (const [when, args, env] of [
    ['with CI=true', some, { CI: 'true' }],
    ['when nothing else was asked for', [testScript, 'test/browser'], {}],
  ] as const) {
    test(`${when} a run fails at once and says why`, async () => {
      const { ended, output } = run(makeTemporary(), [...args], { ...without, ...env });
      assert.equal(await ended, 1);
      assert.match(output(), /NOT TESTED: \d+ test files, because chromium is not installed/);
      assert.doesNotMatch(output(), /starting the database/);
    });
  }
});
