// `npm run carriers`: section 14 of the contract.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { writeBinds } from '../../src/delivery/carrier/bind-store.ts';
import { carrierKey, findCarrier, readCarriers } from '../../src/delivery/carrier/store.ts';
import { claimTest, type TestStep, writeTestStep } from '../../src/delivery/carrier/test-store.ts';
import { type ConfiguredCarrier, watchCarriers } from '../../src/delivery/setup/watch.ts';
import { toTimestamp } from '../../src/platform/clock.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createCertificate } from '../support/certificates.ts';
import { run, runIn } from '../support/commands.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { createSender } from '../support/texts.ts';

let app: TestApp;
let folder: string;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  folder = await mkdtemp(join(tmpdir(), 'heliograph-carriers-'));
});
after(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => app.db.database.query('truncate carrier, carrier_bind, carrier_log, carrier_test'));

const acme = {
  name: 'acme',
  kind: 'smpp',
  settings: { host: '127.0.0.1', system_id: 'me', password: { env: 'ACME' } },
};
const env = { ACME: 'pass-Zq7' };

/** Runs a command, and returns all that it prints. */
async function carriers(...args: string[]): Promise<string> {
  const said: string[] = [];
  const last = await runIn({ env, say: (text) => void said.push(text) }, app, 'carriers', ...args);
  return [...said, last].join('\n');
}

async function apply(file: unknown, ...flags: string[]): Promise<string> {
  const path = join(folder, 'carriers.json');
  await writeFile(path, typeof file === 'string' ? file : JSON.stringify(file));
  return carriers('apply', path, ...flags);
}

const names = async () => (await readCarriers(app.db.database)).map(({ name }) => name);
async function require(name: string) {
  const found = await findCarrier(app.db.database, name);
  assert.ok(found, `there is a carrier ${name}`);
  return found;
}
async function passwordOf(name: string): Promise<string | undefined> {
  let seen: ConfiguredCarrier[] = [];
  const onChange = (all: ConfiguredCarrier[]) => {
    seen = all;
  };
  const { log } = createTestLog();
  await watchCarriers({ database: app.db.database, clock: app.clock, keys: app.keys, log, onChange }).refresh();
  const found = seen.find((each) => each.name === name);
  return found?.kind === 'smpp' ? found.settings.password : undefined;
}

describe('apply', () => {
  test('makes what is new, changes what differs, and leaves alone what the file does not name', async () => {
    assert.match(await apply({ carriers: [acme, { ...acme, name: 'other' }] }), /^acme: new\nother: new\n/);
    assert.equal(await passwordOf('acme'), 'pass-Zq7');
    const changed = { ...acme, settings: { ...acme.settings, window: 30, tls: { servername: 'smsc.example.com' } } };
    assert.match(
      await apply({ carriers: [changed] }),
      /^acme: window: 10 → 30, tls changed\n|^acme: tls changed, window/,
    );
    assert.deepEqual([(await require('acme')).settings.window, (await require('other')).version], [30, 1]);
    assert.match(await apply({ carriers: [changed] }), /^acme: unchanged\n/);
    assert.equal((await require('acme')).version, 2);
    assert.match(await apply({ carriers: [acme] }), /window: 30 → 10/);
  });

  test('a secret that the file does not name stays; null removes it; it is never printed', async () => {
    const { cert, key } = createCertificate({ name: 'carrier.test' });
    const secured = { ...acme, settings: { ...acme.settings, tls: { cert, key } } };
    await apply({ carriers: [secured] });
    const { password: _, ...open } = acme.settings;
    assert.match(await apply({ carriers: [{ ...acme, settings: { ...open, tls: { cert } } }] }), /^acme: unchanged\n/);
    assert.equal(await passwordOf('acme'), 'pass-Zq7');
    const other = await apply({ carriers: [{ ...acme, settings: { ...open, password: 'other-Zq7', tls: { cert } } }] });
    assert.match(other, /^acme: password changed\n/);
    assert.equal(other.includes('Zq7'), false);
    await apply({ carriers: [{ ...acme, settings: { ...open, password: null, tls: false } }] });
    assert.equal(await passwordOf('acme'), undefined);
    assert.equal((await require('acme')).secrets, null);
  });

  test('apply --dry-run prints the difference and changes nothing', async () => {
    assert.match(await apply({ carriers: [acme] }, '--dry-run'), /^acme: new\n\nThis was a dry run/);
    assert.deepEqual(await names(), []);
    await apply({ carriers: [acme] });
    const changed = { ...acme, settings: { ...acme.settings, binds: 3 } };
    assert.match(await apply({ carriers: [changed] }, '--dry-run', '--prune'), /^acme: binds: 1 → 3\n/);
    assert.equal((await require('acme')).version, 1);
  });

  test('apply --prune deletes carriers that the file does not name, unless they have texts', async () => {
    await apply({ carriers: [acme, { ...acme, name: 'busy' }, { ...acme, name: 'old' }] });
    const sender = await createSender(app);
    await sender.sms({ to: '+15005550100' });
    await app.db.database.query('update delivery_queue set carrier = $1', [carrierKey(await require('busy'))]);
    await assert.rejects(apply({ carriers: [acme] }, '--prune'), /The carrier busy has texts to send/);
    assert.deepEqual(await names(), ['acme', 'busy', 'old'], 'nothing is deleted');
    await app.db.database.query('delete from delivery_queue');
  });

  test('names all that is wrong and changes nothing', async () => {
    const bad = { ...acme, name: 'bad', settings: { ...acme.settings, window: 0, host: '192.0.2.1', hots: [] } };
    await assert.rejects(apply({ carriers: [acme, bad, { ...acme, name: 'Bad', kind: 'fax' }] }), (error: Error) => {
      assert.match(error.message, /^Nothing has been changed:/);
      assert.match(error.message, /carriers\.1\.settings\.window must be 1 or more/);
      assert.match(error.message, /carriers\.1\.settings\.hots is not known here/);
      assert.match(error.message, /carriers\.2\.name must be/);
      assert.match(error.message, /carriers\.2\.kind must be one of smpp/);
      return true;
    });
    assert.deepEqual(await names(), []);
  });

  for (const [what, file, says] of [
    ['routes', { carriers: [], routes: {} }, /routes must be a list/],
    ['senders', { senders: [{}] }, /senders\.0\.application_id is required/],
    ['numbers', { numbers: 5 }, /numbers must be a list/],
    ['unknown names', { carrier: [] }, /carrier is not known here/],
    ['a list', [], /must hold a JSON object/],
    ['no JSON', '{', /is not JSON/],
    [
      'an entry without a name',
      { carriers: [{ kind: 'smpp' }] },
      /carriers\.0\.name is required[\s\S]*carriers\.0\.settings is required/,
    ],
    ['a name twice', { carriers: [acme, acme] }, /carriers\.1\.name is in this list already/],
    [
      'a variable that is not set',
      { carriers: [{ ...acme, settings: { ...acme.settings, password: { env: 'MISSING' } } }] },
      /carriers\.0\.settings\.password names MISSING, which is not set/,
    ],
  ] as const) {
    test(`refuses ${what}`, () => assert.rejects(apply(file), says));
  }

  test('empty lists are fine', async () => {
    assert.match(await apply({ carriers: [acme], routes: [], senders: [], numbers: [] }), /acme: new/);
  });

  test('a file that is not there', () =>
    assert.rejects(carriers('apply', join(folder, 'none.json')), /cannot be read/));
});

describe('export', () => {
  test('has no secrets, and can be applied again', async () => {
    const { cert, key } = createCertificate({ name: 'carrier.test' });
    const settings = { ...acme.settings, per_second: 12.5, charsets: ['ucs2/8'], tls: { cert, key } };
    await apply({ carriers: [{ ...acme, name: 'my-carrier', settings }] });
    const printed = await carriers('export');
    assert.equal(printed.includes('pass-Zq7') || printed.includes('PRIVATE KEY'), false);
    const file = JSON.parse(printed);
    assert.deepEqual(file, {
      carriers: [
        {
          name: 'my-carrier',
          kind: 'smpp',
          settings: {
            host: '127.0.0.1',
            port: 2775,
            system_id: 'me',
            password: { env: 'CARRIER_MY_CARRIER_PASSWORD' },
            tls: { cert, key: { env: 'CARRIER_MY_CARRIER_TLS_KEY' } },
            charsets: ['ucs2/8'],
            per_second: 12.5,
          },
        },
      ],
      routes: [],
      senders: [],
      numbers: [],
    });
    const path = join(folder, 'exported.json');
    await writeFile(path, printed);
    const said: string[] = [];
    const secrets = { CARRIER_MY_CARRIER_PASSWORD: 'pass-Zq7', CARRIER_MY_CARRIER_TLS_KEY: key };
    await runIn({ env: secrets, say: (text) => void said.push(text) }, app, 'carriers', 'apply', path);
    assert.deepEqual(said, ['my-carrier: unchanged']);
  });
});

describe('status', () => {
  test('says how to begin when there are no carriers', async () => {
    assert.match(await carriers('status'), /There are no carriers\. docs\/carriers\.md/);
  });

  test('a line for each carrier, and why a bind is down', async () => {
    await apply({ carriers: [acme, { ...acme, name: 'silent' }] });
    const { id: carrierId } = await require('acme');
    const at = toTimestamp(app.clock.nowMs());
    const nowMs = app.clock.nowMs();
    const shared = { mode: 'transceiver', host: '127.0.0.1:2775', sinceMs: nowMs } as const;
    const binds = [
      { slot: 1, state: 'waiting', error: 'It refused the bind.', nextTryAtMs: nowMs, ...shared } as const,
    ];
    await writeBinds(app.db.database, { carrierId, node: 'nod_a', binds }, app.clock.nowMs());
    const lines = (await carriers('status')).split('\n');
    assert.deepEqual(lines.slice(1, 6), [
      'CARRIER  STATE        BINDS   WAITING  UNMATCHED',
      'acme     down         0 of 1  0        0',
      `  bind 1 on nod_a is waiting. It refused the bind. Next try at ${at}.`,
      'silent   not running  0 of 1  0        0',
      '  No worker runs it. Start the service, or a node with HELIOGRAPH_ROLE=worker.',
    ]);
  });
});

describe('test', () => {
  const steps: TestStep['step'][] = ['name', 'connection', 'tls', 'bind', 'text', 'receipt'];

  /** What a worker does. */
  async function work(failsAt?: TestStep['step']): Promise<void> {
    const { id } = await require('acme');
    const claimed = await eventually('a test waits', () => claimTest(app.db.database, id, app.clock.nowMs()));
    for (const step of steps) {
      const ok = step !== failsAt;
      await writeTestStep(
        app.db.database,
        claimed.id,
        { step, ok, detail: `About ${step}.`, tookMs: 5 },
        app.clock.nowMs(),
      );
      if (!ok) return;
    }
  }

  test('shows the steps as they happen', async () => {
    await apply({ carriers: [acme] });
    const [printed] = await Promise.all([carriers('test', 'acme', '+44 7700 900123'), work()]);
    const lines = printed.split('\n');
    assert.match(lines[0] ?? '', /sends one text to \+447700900123 through acme, and waits up to 120 s/);
    assert.equal(lines[1], 'ok      name        About name. (5 ms)');
    assert.deepEqual([lines.length, lines.at(-2)], [10, 'The carrier works.']);
  });

  test('a failed step ends it', async () => {
    await apply({ carriers: [acme] });
    const said: string[] = [];
    const command = runIn({ say: (text) => void said.push(text) }, app, 'carriers', 'test', 'acme', '+447700900123');
    await Promise.all([assert.rejects(command, /The test failed/), work('bind')]);
    assert.equal(said.at(-1), 'failed  bind        About bind. (5 ms)');
  });

  test('an unknown carrier, and a number that is none', async () => {
    await assert.rejects(carriers('test', 'nobody', '+447700900123'), /There is no carrier nobody/);
    await assert.rejects(carriers('test', 'acme', '0770'), /with its country code/);
  });
});

describe('try', () => {
  test('asks the running service, and prints how to see the result', async () => {
    await apply({ carriers: [acme] });
    assert.equal((await require('acme')).tryWantedAtMs, null);
    assert.match(await carriers('try', 'acme'), /connects acme now\..*carriers.*status/);
    const first = (await require('acme')).tryWantedAtMs;
    assert.ok(first, 'the workers see that it is wanted');
    await carriers('try', 'acme');
    assert.notEqual((await require('acme')).tryWantedAtMs, first, 'each time anew, though no time has passed');
    assert.equal((await require('acme')).version, 1, 'nothing has changed');
    await assert.rejects(carriers('try', 'nobody'), /There is no carrier nobody/);
  });
});

for (const args of [
  [],
  ['apply'],
  ['apply', 'a', 'b'],
  ['apply', 'a', '--force'],
  ['status', 'x'],
  ['export', '--all'],
  ['test', 'acme'],
  ['try'],
  ['try', 'acme', 'more'],
  ['remove'],
]) {
  test(`how to use it: carriers ${args.join(' ')}`, async () => {
    await assert.rejects(async () => run(app, 'carriers', ...args), /Run one of:/);
  });
}
