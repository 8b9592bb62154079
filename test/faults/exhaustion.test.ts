// run: with services, on web processes
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { send } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { sharedSettings, urlOf } from '../support/node-settings.ts';
import { isRunning, makeFolder } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import { webProcesses } from '../support/web-process.ts';

/** For a machine that is busy with other things. */
const promptMs = inShort(30_000, 5000);

let database: TestDatabase;
let service: Service;
before(async () => {
  await buildService();
  database = await createTestDatabase();
  const env = { ...sharedSettings, DATABASE_URL: urlOf(database.connection), LOG_LEVEL: 'info' };
  const command: [string, ...string[]] = ['sh', '-c', 'ulimit -n 150; exec node dist/service/main.js'];
  service = await startService({ dataDir: makeFolder('node'), command, env, unread: true });
  await service.ready;
});
after(async () => {
  await endServices();
  await database.drop();
});

/** Asks for its health again and again while something else goes on, and says how long the slowest answer took. */
async function slowestHealth(during: Promise<unknown>): Promise<number> {
  let over = false;
  let slowestMs = 0;
  const ended = during.finally(() => {
    over = true;
  });
  while (!over) {
    const startedMs = performance.now();
    assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    await pause(50);
  }
  await ended;
  return slowestMs;
}

describe('a node that runs out of something', () => {
  test('of its log\u2019s reader: it goes on answering', async () => {
    // Each leaves a line of 150 bytes or more; a pipe holds 64 kB.
    for (let round = 0; round < inShort(30, 50); round++) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(`${service.url}/nothing`)));
      for (const answer of answers) {
        assert.equal(answer.status, 404);
        await answer.body?.cancel();
      }
    }
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
  });

  test('of file descriptors: it closes what it cannot take, and goes on', async () => {
    const port = Number(new URL(service.url).port);
    const sockets: Socket[] = [];
    let refused = 0;
    // Each process may have 150.
    for (let index = 0; index < 250 * webProcesses; index++) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.on('close', () => refused++);
      sockets.push(socket);
    }
    await eventually('some are closed', () => refused > 50);
    for (const socket of sockets) socket.destroy();
    await eventually('it takes connections again', async () => {
      const response = await fetch(`${service.url}/readyz`).catch(() => undefined);
      await response?.body?.cancel();
      return response?.status === 200;
    });
  });

  test('of time for passwords: it hashes a few at once, and the rest of it stays prompt', async () => {
    const guess = async (index: number) => {
      const body = { email: `nobody-${index}@example.com`, password: 'not the password of anybody' };
      const { status } = await send(service, 'POST', '/portal/v1/sessions', { body });
      assert.ok([401, 429, 503].includes(status), String(status));
    };
    // More than Node has threads for such work.
    const guesses = Array.from({ length: inShort(5, 8) }, (_, index) => guess(index));
    const slowestMs = await slowestHealth(Promise.all(guesses));
    assert.ok(slowestMs < promptMs, `the slowest answer took ${slowestMs} ms`);
  });

  test('a service whose log is not read finishes requests in flight when it is stopped', async () => {
    const locks = async () => {
      const held = `select from pg_locks join pg_database d on d.oid = database where locktype = 'advisory' and datname = current_database()`;
      return (await database.database.query(held)).count;
    };
    // Statements of a moment take locks, too.
    await eventually('it holds the one that says that it runs', async () => (await locks()) === 1);
    service.kill('SIGTERM');
    await eventually('it has let go of everything', async () => (await locks()) === 0);
    await assert.rejects(fetch(`${service.url}/healthz`));
    // The last of its log has nowhere to go; a parent that has stopped it kills it after a while.
    if (isRunning(service.pid)) service.kill('SIGKILL');
    await service.ended;
  });
});
