import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/platform/clock.ts';
import { readConfig } from '../../src/platform/config.ts';
import type { Database } from '../../src/platform/database.ts';
import type { KeyRing } from '../../src/platform/keys.ts';
import { openKeyRing } from '../../src/platform/open-key-ring.ts';
import { type OwnedText, ownedText } from '../../src/platform/owned-text.ts';
import { createRegistry, type Registry } from '../../src/registry/registry.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import type { Verdict } from '../support/registry-node.ts';

let db: TestDatabase;
let keys: KeyRing;
const accountId = 'acc_test';
before(async () => {
  db = await createTestDatabase();
  keys = await openKeyRing({ database: db.database, clock: systemClock, secret: 'a secret for tests only' });
  await db.database.query("insert into account (id, email, created_at) values ('acc_test', 'a@example.com', now())");
});
after(() => db.drop());

const { plans } = readConfig({});

function node(database: Database, listen = true): Registry {
  const { log } = createTestLog();
  return createRegistry({ database, clock: systemClock, keys, log, config: readConfig({}), listen });
}

async function newKey(registry: Registry): Promise<{ applicationId: string; key: OwnedText; keyId: string }> {
  const { id } = await registry.service.createApplication(db.database, accountId, 'ACME');
  const { credential } = await registry.service.registerOwn(accountId, id, 'sms', 'free');
  assert.equal(credential?.type, 'api_key');
  return credential?.type === 'api_key'
    ? { applicationId: id, key: ownedText(credential.apiKey), keyId: credential.id }
    : assert.fail();
}

/** What the edge does: from memory if it may, otherwise from the database. */
async function ask({ keyLookup }: Registry, key: OwnedText) {
  const remembered = keyLookup.remembered(key);
  return remembered === undefined ? keyLookup.lookUp(key) : remembered;
}

describe('two registries on one database', () => {
  for (const listen of [true, false]) {
    test(`a change answered by one is never again served from memory by the other, ${listen ? 'with' : 'without'} NOTIFY`, async () => {
      const one = node(db.database);
      const other = node(db.another(), listen);
      await Promise.all([one.feed.start(), other.feed.start()]);
      for (let i = 0; i < 10; i++) {
        const { applicationId, key, keyId } = await newKey(one);
        assert.deepEqual((await ask(other, key))?.limits, plans.free);
        assert.ok(other.keyLookup.remembered(key), 'it is remembered');
        await one.service.registerOwn(accountId, applicationId, 'sms', 'pro');
        assert.deepEqual((await ask(other, key))?.limits, plans.pro);
        await one.service.deleteKey(accountId, applicationId, keyId);
        assert.equal(await ask(other, key), null);
      }
      await Promise.all([one.feed.stop(), other.feed.stop()]);
    });
  }

  test('a node that cannot reach the database trusts nothing it remembers when the change is answered', async () => {
    const one = node(db.database);
    const otherDatabase = db.another();
    const link = { held: false };
    const heldUp: Database = {
      ...otherDatabase,
      query: (...args) => (link.held ? new Promise(() => {}) : otherDatabase.query(...args)),
    };
    const other = node(heldUp, false);
    await Promise.all([one.feed.start(), other.feed.start()]);
    const { applicationId, key, keyId } = await newKey(one);
    assert.ok(await ask(other, key));
    assert.ok(other.keyLookup.remembered(key));
    link.held = true;
    await one.service.deleteKey(accountId, applicationId, keyId);
    assert.equal(other.keyLookup.remembered(key), undefined);
    link.held = false;
    await one.feed.stop();
    await otherDatabase.query('delete from node');
  });

  test('a lookup that was under way during a change is not remembered after it', async () => {
    const slow = db.another();
    let release: (() => void) | undefined;
    const holding: Database = {
      ...slow,
      async query(statement, values) {
        const result = await slow.query(statement, values);
        const name = typeof statement === 'string' ? '' : statement.name;
        if (name === 'select-application-by-key')
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        return result as never;
      },
    };
    const one = node(holding);
    await one.feed.start();
    const { applicationId, key, keyId } = await newKey(one);
    const lookup = one.keyLookup.lookUp(key);
    await eventually('the lookup has read its row', () => release !== undefined);
    await one.service.deleteKey(accountId, applicationId, keyId);
    release?.();
    assert.ok(await lookup, 'the lookup itself began before the change');
    assert.equal(one.keyLookup.remembered(key), undefined);
    await one.feed.stop();
  });
});

describe('a node in a process of its own', () => {
  let child: ChildProcess;
  const tell = async (key: string): Promise<Verdict> => {
    child.send({ key });
    const [verdict] = (await once(child, 'message')) as [Verdict];
    return verdict;
  };
  before(async () => {
    const script = fileURLToPath(new URL('../support/registry-node.ts', import.meta.url));
    child = fork(script, [JSON.stringify(db.connection)], { execArgv: ['--import', 'tsx'] });
    assert.deepEqual(await once(child, 'message'), ['ready', undefined]);
  });
  after(() => child.kill('SIGKILL'));

  test('paused past its lease and woken again, it does not serve what it remembered', async () => {
    const one = node(db.database);
    await one.feed.start();
    const { applicationId, key, keyId } = await newKey(one);
    assert.equal((await tell(key)).owner, applicationId);
    assert.equal((await tell(key)).from, 'memory');

    child.kill('SIGSTOP');
    await one.service.deleteKey(accountId, applicationId, keyId);
    // The question lies in its pipe when it wakes, before any poll of its own.
    const verdict = tell(key);
    child.kill('SIGCONT');
    assert.deepEqual(await verdict, { from: 'database', owner: null });
    await one.feed.stop();
  });
});
