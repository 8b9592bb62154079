// run: alone
// Two Postgres of the test's own, one following the other: which of them a node trusts, and what it does at a switch.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runCommand } from '../../src/commands/commands.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createDatabase, type Database } from '../../src/platform/database/database.ts';
import { isCommitInDoubt } from '../../src/platform/database/errors.ts';
import { createPrimary, type Primary } from '../../src/platform/database/primary/primary.ts';
import { ApiError } from '../../src/platform/errors.ts';
import { newId } from '../../src/platform/ids.ts';
import { createChangeFeed } from '../../src/registry/change-feed.ts';
import { readConfig } from '../../src/settings/settings.ts';
import '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { openTestKeyRing, testSecret } from '../support/key-ring.ts';
import { createTestLog } from '../support/log.ts';
import { type PairServer, type PostgresPair, startPair } from '../support/postgres-pair.ts';
import { makeFolder } from '../support/process.ts';

const { log } = createTestLog();
const patient = 30_000;

let pair: PostgresPair;
const opened: (() => Promise<void>)[] = [];
before(async () => {
  pair = await startPair();
});
after(async () => {
  for (const close of opened.reverse()) await close().catch(() => {});
  await pair.close();
});

interface Node {
  primary: Primary;
  database: Database;
  close(): Promise<void>;
}

function openNode(servers?: PairServer[], options?: string): Node {
  const url = pair.urlOf(servers, options);
  const primary = createPrimary({ url, clock: systemClock, log });
  const database = createDatabase({ connection: { url }, primary, log, poolSize: 3 });
  const close = async () => {
    await database.close();
    await primary.stop();
  };
  opened.push(close);
  return { primary, database, close };
}

async function portOf({ database }: Node): Promise<number> {
  return eventually('the node reaches the database', async () => {
    const { rows } = await database.query<{ port: number }>('select inet_server_port() as port').catch(refusedForNow);
    return rows[0]?.port;
  });
}

/** Any other error than a 503 fails the test. */
function refusedForNow(error: unknown): { rows: never[] } {
  assert.ok(error instanceof ApiError && error.code === 'UNAVAILABLE', String(error));
  return { rows: [] };
}

async function connectionsTo(server: PairServer): Promise<number> {
  const { rows } = await server.admin.query<{ count: number }>(
    "select count(*)::integer as count from pg_stat_activity where usename = 'heliograph'",
  );
  return rows[0]?.count ?? 0;
}

describe('with a synchronous standby', { concurrency: false }, () => {
  let node: Node;
  before(() => {
    // The standby first: the order means nothing.
    node = openNode([pair.second, pair.first]);
  });

  test('a node finds the host that takes writes, and says whether a standby confirms them', async () => {
    assert.equal(await portOf(node), pair.first.port);
    await eventually('the standby is seen', () => node.primary.state().hosts[0]?.is === 'standby');
    const { hosts, isSynchronous, isSplit } = node.primary.state();
    assert.deepEqual(
      hosts.map(({ is }) => is),
      ['standby', 'primary'],
    );
    assert.equal(isSynchronous, true);
    assert.equal(isSplit, false);
    await node.primary.confirm(patient);
  });

  test('an address that asks for the primary is followed even if it names one host', async () => {
    const one = openNode([pair.first], '?target_session_attrs=read-write');
    assert.equal(await portOf(one), pair.first.port);
    await one.close();
    const standby = openNode([pair.second], '?target_session_attrs=read-write');
    await assert.rejects(standby.database.query('select 1'), isRefused(/is a standby|not asked yet|does not answer/));
  });

  test('trust ends with the writes: without its standby the primary answers, and is not believed', async () => {
    await node.primary.whenTrusted(patient);
    pair.second.freeze();
    try {
      await eventually('trust has ended', () => node.primary.current() === undefined);
      const { rows } = await pair.first.admin.query('select 1');
      assert.equal(rows.length, 1, 'the primary itself answers');
      await assert.rejects(node.database.query('select 1'), isRefused(/takes writes|does not answer/));
      await assert.rejects(node.primary.confirm(300), isRefused(/takes writes|does not answer/));
    } finally {
      pair.second.thaw();
    }
    assert.equal(await portOf(node), pair.first.port);
  });

  test('without its standby a host is asked for a write again and again, on one connection: the next one may count', async () => {
    await node.primary.whenTrusted(patient);
    const began = new Map<number, Set<string>>();
    pair.second.freeze();
    try {
      await eventually('writes were given up and begun again', async () => {
        const { rows } = await pair.first.admin.query<{ pid: number; began: string }>(
          `select pid, query_start::text as began from pg_stat_activity
             where usename = 'heliograph' and wait_event = 'SyncRep' and query like '%emit_message%'`,
        );
        for (const row of rows) began.set(row.pid, (began.get(row.pid) ?? new Set()).add(row.began));
        return [...began.values()].some((each) => each.size >= 3);
      });
    } finally {
      pair.second.thaw();
    }
    assert.equal(began.size, 1);
    assert.equal(await portOf(node), pair.first.port);
  });

  test('an answer that was under way when trust ended comes late, or not at all', async () => {
    await node.primary.whenTrusted(patient);
    const answer = node.database.query('select pg_sleep(1.6), inet_server_port() as port');
    pair.second.freeze();
    try {
      await assert.rejects(answer, isRefused());
    } finally {
      pair.second.thaw();
    }
    const late = node.primary.whenTrusted(patient).then(() => node.database.query('select pg_sleep(1.2)'));
    await late.catch(refusedForNow);
  });

  test('a COMMIT whose wait for the standby was cancelled is in doubt, and the next answer waits for it', async () => {
    await node.primary.whenTrusted(patient);
    await node.database.query('create table if not exists doubtful (id integer primary key)');
    pair.second.freeze();
    let error: unknown;
    try {
      const write = node.database.query('insert into doubtful values (1) on conflict do nothing');
      const ended = write.then(
        () => undefined,
        (caught: unknown) => caught,
      );
      await eventually('the commit waits for its standby', async () => {
        const { rows } = await pair.first.admin.query(
          `select pg_cancel_backend(pid) from pg_stat_activity
             where usename = 'heliograph' and wait_event = 'SyncRep' and query like 'insert into doubtful%'`,
        );
        return rows.length > 0;
      });
      error = await ended;
      assert.ok(isCommitInDoubt(error), String(error));
      assert.ok(error instanceof ApiError && error.code === 'UNAVAILABLE');
      // It is there, and a failover would lose it: it may not be answered as done.
      const there = await pair.first.admin.query("select 1 from pg_class where relname = 'doubtful'");
      assert.ok(there.rows.length <= 1);
      const repeated = node.database.query('insert into doubtful values (1) on conflict do nothing');
      await assert.rejects(repeated, isRefused());
    } finally {
      pair.second.thaw();
    }
    await eventually('the repetition is answered', async () => {
      const { count } = await node.database
        .query('insert into doubtful values (1) on conflict do nothing')
        .catch(() => ({ count: -1 }));
      return count === 0;
    });
  });

  test('the same holds for a transaction', async () => {
    await node.primary.whenTrusted(patient);
    pair.second.freeze();
    try {
      const ended = node.database
        .transaction(async (tx) => tx.query('insert into doubtful values (2)'))
        .then(
          () => undefined,
          (caught: unknown) => caught,
        );
      await eventually('the commit waits for its standby', async () => {
        const { rows } = await pair.first.admin.query(
          `select pg_cancel_backend(pid) from pg_stat_activity
             where usename = 'heliograph' and wait_event = 'SyncRep' and query = 'commit'`,
        );
        return rows.length > 0;
      });
      assert.ok(isCommitInDoubt(await ended));
    } finally {
      pair.second.thaw();
    }
    assert.equal(await portOf(node), pair.first.port);
  });

  test('an apply whose COMMIT is in doubt says so, and keeps the credentials that it may have made', async () => {
    const url = pair.urlOf([pair.first]);
    const database = createDatabase({ connection: { url }, log, poolSize: 3 });
    const folder = makeFolder('doubt');
    const [file, credentials] = [join(folder, 'file.json'), join(folder, 'credentials.json')];
    const account = newId('acc', systemClock);
    await database.query(`insert into account (id, name, created_at) values ($1, 'Doubt', now())`, [account]);
    const registrations = [{ api: 'sms', plan: 'free' }];
    writeFileSync(file, JSON.stringify({ applications: [{ account, name: 'doubt', registrations }] }));
    const config = readConfig({ HELIOGRAPH_SECRET: testSecret });
    const keys = await openTestKeyRing(database, systemClock);
    const interrupted = new AbortController().signal;
    pair.second.freeze();
    try {
      const applied = runCommand('apply', [file, '--credentials', credentials], {
        ...{ config, clock: systemClock, database, keys, secret: testSecret, interrupted, colour: false },
        ...{ say: () => {}, readEnv: () => undefined, exitWith: () => {} },
      }).then(
        () => undefined,
        (caught: unknown) => caught,
      );
      await eventually('its commit waits for the standby', async () => {
        const { rows } = await pair.first.admin.query(
          `select pg_cancel_backend(pid) from pg_stat_activity
             where usename = 'heliograph' and wait_event = 'SyncRep' and query = 'commit'`,
        );
        return rows.length > 0;
      });
      assert.match(String(await applied), /The changes are in doubt.*Keep .*credentials\.json/);
      const { credentials: kept } = JSON.parse(readFileSync(credentials, 'utf8')) as { credentials: object[] };
      assert.equal(kept.length, 1, 'one key');
    } finally {
      pair.second.thaw();
      await database.close();
    }
  });

  test('a statement that takes too long holds back answers for one write, and ends no trust', async () => {
    const host = await node.primary.whenTrusted(patient);
    // One backend stands still, so its statement has no answer. The host itself is well.
    const { rows } = await pair.first.admin.query<{ pid: number }>(
      `select pid from pg_stat_activity where usename = 'heliograph' and state = 'idle'
         and pid <> pg_backend_pid() and query not like '%pg_logical_emit_message%'`,
    );
    try {
      signalAll(rows, 'SIGSTOP');
      const asked = Array.from({ length: 3 }, () => node.database.query('select 1').then(answered, String));
      const outcomes = await Promise.all(asked);
      assert.ok(
        outcomes.some((outcome) => outcome !== 'answered'),
        'a statement had no answer',
      );
      assert.equal(node.primary.current(), host, 'the host is trusted still');
      assert.equal((await node.database.query('select 1')).count, 1);
    } finally {
      signalAll(rows, 'SIGCONT');
    }
  });

  test('doubts without end keep no answer waiting: each waits for a write that began after those before it', async () => {
    const host = await node.primary.whenTrusted(patient);
    let goesOn = true;
    const doubt = () => {
      node.primary.doubt(host);
      if (goesOn) setImmediate(doubt);
    };
    doubt();
    try {
      for (let n = 0; n < 10; n++) assert.equal((await node.database.query('select 1')).count, 1);
      assert.equal(node.primary.current(), host);
    } finally {
      goesOn = false;
    }
  });

  test('after a promotion every statement goes to the new primary, and no connection to the old one stays', async () => {
    const session = await node.database.openSession(() => {
      sessionLost = true;
    });
    let sessionLost = false;
    await session.query('listen anything');
    const feed = createChangeFeed({ database: node.database, clock: systemClock, log, nodeId: 'node_a', ...unused });
    await eventually('the feed starts', () => feed.start().then(() => true, refusedToStart));
    assert.ok(feed.isTrusted());
    const { generation } = feed;
    const before = node.primary.epoch;
    await node.database.query('create sequence tried');
    const nextval = "select nextval('tried') as next";
    const sequence = await node.database.query<{ next: number }>(nextval);

    pair.first.freeze();
    await pair.promote(pair.second);
    await pair.second.admin.query("alter system set synchronous_standby_names = ''");
    await pair.second.admin.query('select pg_reload_conf()');
    assert.equal(await portOf(node), pair.second.port);
    assert.equal(node.primary.epoch, before + 1);
    await eventually('the session was cut', () => sessionLost);
    await eventually('the feed follows the new primary', () => feed.isTrusted());
    assert.ok(feed.generation > generation, 'what was remembered is forgotten');
    const next = await node.database.query<{ next: number }>(nextval);
    assert.ok((next.rows[0]?.next ?? 0) > (sequence.rows[0]?.next ?? 0), 'no number is given twice');
    assert.equal(node.primary.state().isSynchronous, false);

    pair.first.thaw();
    await eventually('the old primary answers, and is known to be old', () => {
      const old = node.primary.state().hosts.find(({ name }) => name === pair.first.address);
      return old?.is === 'old_primary' && old.timeline === 1;
    });
    for (let n = 0; n < 20; n++) assert.equal(await portOf(node), pair.second.port);
    // One connection watches it. What was frozen has noticed that the others are gone.
    await eventually('no other connection to it is left', async () => (await connectionsTo(pair.first)) <= 1);
    await feed.stop();
  });

  test('a new node that sees only the old primary trusts nothing, although it answers', async () => {
    const { rows } = await pair.first.admin.query('select not pg_is_in_recovery() as writable');
    assert.deepEqual(rows, [{ writable: true }]);
    const lost = openNode([pair.first], '?target_session_attrs=read-write');
    await assert.rejects(lost.database.query('select 1'), isRefused());
    await assert.rejects(
      lost.database.transaction((tx) => tx.query('select 1')),
      isRefused(),
    );
    await assert.rejects(
      lost.database.openSession(() => {}),
      isRefused(),
    );
    // The one that sees both knows which is right.
    const both = openNode();
    assert.equal(await portOf(both), pair.second.port);
  });
});

const answered = () => 'answered';
const unused = { onChange: () => {}, onLost: () => {} };

function refusedToStart(error: unknown): false {
  refusedForNow(error);
  return false;
}

function isRefused(why = /./) {
  return (error: unknown) => {
    assert.ok(error instanceof ApiError && error.code === 'UNAVAILABLE', String(error));
    assert.match(String((error.cause as Error).message), why);
    return true;
  };
}

/** A backend may have ended meanwhile: its pool closes what is idle. */
function signalAll(backends: { pid: number }[], signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const { pid } of backends) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
