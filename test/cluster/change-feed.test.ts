import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, type TestContext, test } from 'node:test';
import { systemClock } from '../../src/platform/clock.ts';
import type { KeyRing } from '../../src/platform/crypto/keys.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { newId } from '../../src/platform/ids.ts';
import { createChangeFeed } from '../../src/registry/change-feed.ts';
import { createRegistry, type Registry } from '../../src/registry/registry.ts';
import { readConfig } from '../../src/settings/settings.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { openTestKeyRing } from '../support/key-ring.ts';
import { createTestLog } from '../support/log.ts';
import { compiledFile } from '../support/process.ts';
import type { Verdict } from '../support/registry-node.ts';

let db: TestDatabase;
let keys: KeyRing;
const accountId = 'acc_test';
before(async () => {
  db = await createTestDatabase();
  keys = await openTestKeyRing(db.database, systemClock);
  await db.database.query("insert into account (id, name, created_at) values ('acc_test', 'a@example.com', now())");
});
after(() => db.drop());

const { plans } = readConfig({});

function node(database: Database, listen = true): Registry {
  const { log } = createTestLog();
  return createRegistry({ database, clock: systemClock, keys, log, config: readConfig({}), listen });
}

async function newKey(registry: Registry): Promise<{ applicationId: string; key: string; keyId: string }> {
  const { id } = await registry.service.createApplication(db.database, accountId, 'ACME');
  const { credential } = await registry.service.registerOwn(accountId, id, { api: 'sms', plan: 'free' });
  assert.equal(credential?.type, 'api_key');
  return credential?.type === 'api_key'
    ? { applicationId: id, key: credential.apiKey, keyId: credential.id }
    : assert.fail();
}

/** What the edge does: from memory if it may, otherwise from the database. */
async function ask({ keyLookup }: Registry, key: string) {
  const remembered = keyLookup.remembered(key);
  return remembered === undefined ? keyLookup.lookUp(key) : remembered;
}

/** A node that stood still for a moment remembers nothing until it has caught up. */
async function untilRemembered(registry: Registry, key: string): Promise<void> {
  await eventually('the key is remembered', async () => {
    assert.ok(await ask(registry, key));
    return registry.keyLookup.remembered(key) !== undefined;
  });
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
        await untilRemembered(other, key);
        await one.service.registerOwn(accountId, applicationId, { api: 'sms', plan: 'pro' });
        assert.deepEqual((await ask(other, key))?.limits, plans.pro);
        await one.credentials.deleteKey(accountId, applicationId, keyId);
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
    await untilRemembered(other, key);
    link.held = true;
    await one.credentials.deleteKey(accountId, applicationId, keyId);
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
    await one.credentials.deleteKey(accountId, applicationId, keyId);
    release?.();
    assert.ok(await lookup, 'the lookup itself began before the change');
    assert.equal(one.keyLookup.remembered(key), undefined);
    await one.feed.stop();
  });
});

test('after a silence a node trusts nothing until the others see it: before, no change waits for it', async () => {
  const clock = createTestClock();
  const own = db.another();
  let [isHeld, release] = [false, () => {}];
  const held: Database = {
    ...own,
    async query(statement, values) {
      const name = typeof statement === 'string' ? '' : statement.name;
      if (isHeld && name === 'upsert-node') await new Promise<void>((resolve) => (release = resolve));
      return own.query(statement, values) as never;
    },
  };
  const { log } = createTestLog();
  const listeners = { onChange: () => {}, onLost: () => {}, listen: false };
  const feed = createChangeFeed({ database: held, clock, log, nodeId: 'node_silent', ...listeners });
  await feed.start();
  assert.ok(feed.isTrusted());
  const notAsked = release;
  isHeld = true;
  clock.advance(9000);
  await eventually('it asks to be seen', () => release !== notAsked);
  assert.equal(feed.isTrusted(), false);
  isHeld = false;
  release();
  await eventually('it is trusted again', () => feed.isTrusted());
  await feed.stop();
});

describe('a node that no request asks', () => {
  /** It rests: by itself it would poll again in an hour. */
  async function startResting(t: TestContext) {
    const clock = createTestClock();
    const own = db.another();
    const done: Record<string, number> = {};
    const counted: Database = {
      ...own,
      async query(statement, values) {
        const result = await own.query(statement, values);
        const name = typeof statement === 'string' ? statement : statement.name;
        done[name] = (done[name] ?? 0) + 1;
        return result as never;
      },
    };
    const nodeId = newId('nod', clock);
    const feed = createChangeFeed({
      database: counted,
      clock,
      log: createTestLog().log,
      nodeId,
      onChange: () => {},
      onLost: () => {},
      restingPollMs: 3_600_000,
    });
    await feed.start();
    t.after(() => feed.stop());
    const before = done['upsert-node'] ?? 0;
    clock.advance(10_001);
    await eventually('it polls once more', () => (done['upsert-node'] ?? 0) > before);
    await new Promise((next) => setImmediate(next));
    return { feed, clock, nodeId };
  }

  test('rests; the next one finds it without trust, and wakes it', async (t) => {
    const { feed, clock } = await startResting(t);
    clock.advance(1001);
    assert.equal(feed.isTrusted(), false);
    await eventually('it has polled', () => feed.isTrusted());
  });

  test('still learns of a change by NOTIFY, and acknowledges it', async (t) => {
    const { nodeId } = await startResting(t);
    const one = node(db.database);
    await one.feed.start();
    t.after(() => one.feed.stop());
    await newKey(one);
    const seqs = `select (select max(seq) from registry_change) = (select acknowledged_seq from node where id = $1) as same`;
    await eventually('it has acknowledged', async () => {
      const { rows } = await db.database.query<{ same: boolean }>(seqs, [nodeId]);
      return rows[0]?.same === true;
    });
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
    const script = compiledFile('test/support/registry-node.ts');
    child = fork(script, [JSON.stringify(db.connection)], { execArgv: [] });
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
    await one.credentials.deleteKey(accountId, applicationId, keyId);
    // The question lies in its pipe when it wakes, before any poll of its own.
    const verdict = tell(key);
    child.kill('SIGCONT');
    assert.deepEqual(await verdict, { from: 'database', owner: null });
    await one.feed.stop();
  });
});
