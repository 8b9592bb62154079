import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { compactVerify } from 'jose';
import type { JwsKey } from '../../src/identity/sign-jws.ts';
import { type SigningThread, startSigningThread } from '../../src/identity/start-signing-thread.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { makeFolder } from '../support/process.ts';

/** How soon a thread that has died is started again here. */
const restartAfterMs = 50;
/** The thread as it is, compiled for this run. */
const realThread = join(process.env.HELIOGRAPH_TEST_FOLDER ?? '', 'compiled/src/identity/signing-thread.js');

interface TestKey extends JwsKey {
  /** The claims of a JWS, if this key signed it for this type. */
  claimsOf(jws: string, typ?: string): Promise<unknown>;
}

function createKey(kid: string, alg: 'ES256' | 'RS256' = 'ES256'): TestKey {
  const { privateKey, publicKey } =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    kid,
    alg,
    privateKey,
    async claimsOf(jws, typ = 'test') {
      const { payload, protectedHeader } = await compactVerify(jws, publicKey);
      assert.deepEqual(protectedHeader, { alg, typ, kid });
      return JSON.parse(Buffer.from(payload).toString());
    },
  };
}

function create(t: TestContext, file: string): SigningThread {
  const thread = startSigningThread(createTestLog().log, { file: pathToFileURL(file), restartAfterMs });
  t.after(() => thread.stop());
  return thread;
}

async function start(t: TestContext, file: string): Promise<SigningThread> {
  const thread = create(t, file);
  await askFor(thread, createKey('first'), 2);
  await eventually('it runs', () => thread.isRunning);
  return thread;
}

/** The real thread, with a script whose `see` gets each order first. `note` writes where the test can read it. */
function play(script: string): { file: string; notes: () => string[] } {
  const folder = makeFolder('signing');
  const file = join(folder, 'thread.mjs');
  const notesFile = join(folder, 'notes');
  writeFileSync(notesFile, '');
  writeFileSync(
    file,
    `import { appendFileSync } from 'node:fs';
     import { parentPort } from 'node:worker_threads';
     const note = (text) => appendFileSync(${JSON.stringify(notesFile)}, text + '\\n');
     note('launched');
     ${script}
     const on = parentPort.on.bind(parentPort);
     parentPort.on = (name, act) => on(name, (order) => { see(order); act(order); });
     await import(${JSON.stringify(pathToFileURL(realThread).href)});`,
  );
  return { file, notes: () => readFileSync(notesFile, 'utf8').trim().split('\n') };
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
const askFor = ({ sign }: SigningThread, key: JwsKey, count: number) =>
  Promise.all(numbers(count).map((number) => sign(key, 'test', JSON.stringify({ number }))));

async function requireGenuine(key: TestKey, signed: string[]): Promise<void> {
  const claims = await Promise.all(signed.map((jws) => key.claimsOf(jws)));
  assert.deepEqual(
    claims,
    numbers(signed.length).map((number) => ({ number })),
  );
}

describe('the signing thread', { concurrency: true }, () => {
  for (const alg of ['ES256', 'RS256'] as const) {
    test(`signs by ${alg}, and everyone gets the JWS that they asked for`, async (t) => {
      const thread = await start(t, realThread);
      const key = createKey('one', alg);
      await requireGenuine(key, await askFor(thread, key, 50));
      const proof = await thread.sign(key, 'other+jwt', '{"text":"ü and \\n"}');
      assert.deepEqual(await key.claimsOf(proof, 'other+jwt'), { text: 'ü and \n' });
    });
  }

  test('starts when one turn asks for several', async (t) => {
    const { file, notes } = play('const see = () => {};');
    const thread = create(t, file);
    const key = createKey('one');
    for (const _ of numbers(20)) await requireGenuine(key, await askFor(thread, key, 1));
    assert.deepEqual([thread.isRunning, notes()], [false, ['']]);
    await requireGenuine(key, await askFor(thread, key, 2));
    await eventually('it runs', () => thread.isRunning);
  });

  test('is asked once for what one turn needs, sixteen at most, and gets a key once', async (t) => {
    const { file, notes } = play(`const see = ({ key, lines }) =>
      note((key?.kid ?? 'same key') + ': ' + lines.split('\\n').length);`);
    const thread = await start(t, file);
    const key = createKey('one');
    await askFor(thread, key, 5);
    await askFor(thread, key, 40);
    assert.deepEqual(notes(), ['launched', 'one: 5', 'same key: 16', 'same key: 16', 'same key: 8']);
  });

  test('signs each with its own key when the keys change within a turn', async (t) => {
    const thread = await start(t, realThread);
    const keys = [createKey('one'), createKey('two')];
    const asked = numbers(20).map((number) => ({ number, key: keys[number % 2] ?? assert.fail('there are two') }));
    const signed = asked.map(({ number, key }) => thread.sign(key, 'test', JSON.stringify({ number })));
    for (const { number, key } of asked) assert.deepEqual(await key.claimsOf((await signed[number]) ?? ''), { number });
  });

  test('a signing thread that dies leaves its work to the thread pool, is started again and gets the key again', async (t) => {
    const { file, notes } = play(`const see = ({ key, lines }) => {
      note(key?.kid ?? 'same key');
      if (lines.includes('"dies"')) process.exit(1);
    };`);
    const thread = await start(t, file);
    const key = createKey('one');
    await requireGenuine(key, await askFor(thread, key, 3));
    const [dies, ...others] = await Promise.all([thread.sign(key, 'test', '{"it":"dies"}'), askFor(thread, key, 30)]);
    assert.deepEqual(await key.claimsOf(dies), { it: 'dies' });
    await requireGenuine(key, others.flat());
    await eventually('there is another', () => notes().filter((note) => note === 'launched').length === 2);
    await requireGenuine(key, await askFor(thread, key, 3));
    await eventually('it was given the key', () => notes().lastIndexOf('one') > notes().lastIndexOf('launched'));
  });

  test('a signing thread that cannot start leaves all work to the thread pool', async (t) => {
    const { file, notes } = play(`throw new Error('it does not start');`);
    const thread = create(t, file);
    const key = createKey('one');
    await requireGenuine(key, await askFor(thread, key, 20));
    await eventually('it was tried again', () => notes().filter((note) => note === 'launched').length > 1);
    await requireGenuine(key, await askFor(thread, key, 20));
  });

  test('a signing thread that is stopped while it works leaves no request without its answer', async (t) => {
    const thread = await start(t, realThread);
    const key = createKey('one');
    const signed = askFor(thread, key, 40);
    await thread.stop();
    await requireGenuine(key, await signed);
    await requireGenuine(key, await askFor(thread, key, 3));
  });
});
