import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type NodeLock, type NodeLockOptions, takeNodeLock } from '../../src/platform/database/node-lock.ts';
import { StartError } from '../../src/platform/errors.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { createFaultProxy } from '../support/fault-proxy.ts';
import { createTestLog } from '../support/log.ts';

let db: TestDatabase;
const held: NodeLock[] = [];
before(async () => {
  db = await createTestDatabase({ empty: true });
});
afterEach(async () => {
  for (const lock of held.splice(0)) await lock.release();
});
after(() => db.drop());

async function take(options: Partial<NodeLockOptions> = {}): Promise<NodeLock> {
  const lock = await takeNodeLock({
    database: db.database,
    shared: false,
    log: createTestLog().log,
    onStolen: (error) => assert.fail(error),
    waitMs: 0,
    reachWithinMs: 0,
    ...options,
  });
  held.push(lock);
  return lock;
}

const isRefusal = (error: unknown) => error instanceof StartError && /already running/.test(error.message);

/** The sessions that hold the lock at this moment. */
async function holders(): Promise<number[]> {
  const { rows } = await db.database.query<{ pid: number }>(
    // Other tests run nodes on other databases of the same server.
    `select pid from pg_locks where locktype = 'advisory' and objid = 4207003 and granted
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows.map(({ pid }) => pid);
}

test('alone there is one node; when it is gone another may come', async () => {
  const first = await take();
  await assert.rejects(take(), isRefusal);
  await assert.rejects(take({ shared: true }), isRefusal);
  await first.release();
  await take();
});

test('a command that must be alone is refused beside any node, and keeps nodes away', async () => {
  const node = await take({ shared: true });
  const alone = { alone: true } as const;
  await assert.rejects(take(alone), /A service is running on this database\. Stop every node first/);
  await node.release();
  await take(alone);
  await assert.rejects(take({ shared: true }), isRefusal);
});

test('nodes that share a window store share the lock, and one without is refused', async () => {
  await take({ shared: true });
  await take({ shared: true });
  await assert.rejects(take(), isRefusal);
  assert.equal((await holders()).length, 2);
});

test('one whose predecessor is about to go waits a moment', async () => {
  const first = await take();
  setTimeout(() => void first.release(), 300);
  await take({ waitMs: 5000 });
});

test('a lock lost with its connection is taken again', async () => {
  await take();
  const [before] = await holders();
  await db.database.query('select pg_terminate_backend($1)', [before]);
  await eventually('another session holds the lock', async () => {
    const [pid] = await holders();
    return pid !== undefined && pid !== before;
  });
  await assert.rejects(take(), isRefusal);
});

test('a node learns once that another node has taken its lock meanwhile', async () => {
  const stolen: StartError[] = [];
  await take({ onStolen: (error) => stolen.push(error) });
  const [pid] = await holders();
  const thief = await db.database.openSession(() => {});
  const taking = thief.query('select pg_advisory_lock(4207003)');
  await db.database.query('select pg_terminate_backend($1)', [pid]);
  await taking;
  await eventually('the node learns of the theft', () => stolen.length > 0);
  await new Promise((done) => setTimeout(done, 400));
  assert.equal(stolen.length, 1);
  assert.ok(isRefusal(stolen[0]));
  await thief.close();
});

test('a connection that has silently died is noticed, and the lock taken again on a new one', async (t) => {
  const proxy = await createFaultProxy(db.connection);
  t.after(() => proxy.close());
  const log = createTestLog();
  const lock = await take({ database: db.another({ connection: proxy.connection }), log: log.log, heartbeatMs: 50 });
  const [before] = await holders();
  proxy.set({ kind: 'black-hole' });
  await eventually('the node logs the loss', () => log.lines.some((line) => line.includes('node lock was lost')));
  // The server has not noticed, and still holds the lock for the old one: that is no other node.
  assert.deepEqual(await holders(), [before]);
  proxy.set({ kind: 'pass' });
  await eventually('another session holds the lock', async () => {
    const [pid] = await holders();
    return pid !== undefined && pid !== before;
  });
  proxy.set({ kind: 'black-hole' });
  await lock.release();
});

test('a database that is only just starting is waited for', async (t) => {
  const proxy = await createFaultProxy(db.connection);
  t.after(() => proxy.close());
  proxy.set({ kind: 'reset' });
  setTimeout(() => proxy.set({ kind: 'pass' }), 400);
  const lock = await take({ database: db.another({ connection: proxy.connection }), reachWithinMs: 60_000 });
  await lock.release();
});

test('one that takes its time to answer gets as many tries as one that refuses', async (t) => {
  const proxy = await createFaultProxy(db.connection);
  t.after(() => proxy.close());
  proxy.set({ kind: 'black-hole' });
  const slow = db.another({ connection: proxy.connection, timeouts: { connectMs: 1000 } });
  setTimeout(() => proxy.set({ kind: 'pass' }), 1100);
  const lock = await take({ database: slow, reachWithinMs: 500 });
  await lock.release();
});

test('a database that cannot be used is reported in one sentence', async () => {
  const nowhere = db.another({ connection: { ...db.connection, host: '127.0.0.1', port: 1 } });
  await assert.rejects(take({ database: nowhere }), (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /^The database cannot be used: .*ECONNREFUSED/);
    return true;
  });
  const stranger = db.another({ connection: { ...db.connection, user: 'stranger', password: 'wrong' } });
  await assert.rejects(take({ database: stranger }), (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /password authentication failed/);
    return true;
  });
});
