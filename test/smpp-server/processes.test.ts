// run: with many processes
// A node with several processes: all of them take binds, and the parent decides for all.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connectRaw, type RawClient } from '../smpp/raw-client.ts';
import { createRegistered } from '../support/applications.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { urlOf } from '../support/node-settings.ts';
import { freePort } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import { bound, createAccount, credentialsOf, readAccount, type SmppCaller, submitMany } from './world.ts';

let db: TestDatabase;
let service: Service;
let port: number;
before(async () => {
  await buildService();
  db = await createTestDatabase();
  port = await freePort();
  service = await startService({
    env: { DATABASE_URL: urlOf(db.connection), HELIOGRAPH_PROCESSES: '2', HELIOGRAPH_SMPP_PORT: String(port) },
  });
  await service.ready;
});
after(async () => {
  await endServices();
  await db.drop();
});

async function createCaller(plan: string, binds: number): Promise<SmppCaller> {
  const application = await createRegistered(service, ['sms'], plan);
  return { ...application, account: await createAccount(application, { binds }) };
}

describe('a node with two processes', () => {
  test('an account has its number of binds, whichever process takes them, and one limit', async () => {
    const caller = await createCaller('free', 6);
    const clients = await Promise.all(Array.from({ length: 12 }, () => connectRaw(port)));
    const answers = await Promise.all(
      clients.map(async (client) => ({ client, answer: await client.bind('bind_transceiver', credentialsOf(caller)) })),
    );
    const admitted = answers.filter(({ answer }) => answer.status === 0).map(({ client }) => client);
    assert.equal(admitted.length, 6);
    assert.equal((await readAccount(caller)).bound.length, 6);
    const statuses = (
      await Promise.all(
        admitted.map((client) =>
          submitMany(
            client,
            Array.from({ length: 20 }, () => ({})),
          ),
        ),
      )
    ).flat();
    assert.equal(statuses.filter(({ status }) => status === 0).length, 60);
    assert.equal(statuses.filter(({ status }) => status === 0x58).length, 60);
    for (const client of clients) client.close();
  });

  test('SIGTERM answers the submits that are under way, unbinds, and exits with 0', async () => {
    const caller = await createCaller('enterprise', 4);
    const clients: RawClient[] = [];
    for (let count = 0; count < 4; count++) clients.push(await bound({ port }, caller));
    const texts = Array.from({ length: 50 }, () => ({ registeredDelivery: 0 }));
    const submitted = clients.map((client) => submitMany(client, texts));
    service.kill('SIGTERM');
    const ended = clients.map(async (client) => {
      const unbind = await client.take('unbind');
      client.send({ command: 'unbind_resp', status: 0, sequence: unbind.sequence });
    });
    await Promise.all(ended);
    // What was read before the unbind has its answer before it.
    const answers = await Promise.all(submitted.map((answered) => Promise.race([answered, ended[0]])));
    assert.ok(answers.every((each) => !Array.isArray(each) || each.every(({ status }) => status === 0)));
    const { code } = await service.ended;
    assert.equal(code, 0, service.output());
  });
});
