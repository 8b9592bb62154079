// run: with many processes
// A node with several processes: all of them take binds, and the parent decides for all.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { connectRaw, type RawClient, textTo } from '../smpp/raw-client.ts';
import { createRegistered } from '../support/applications.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { urlOf } from '../support/node-settings.ts';
import { freePort, makeFolder } from '../support/process.ts';
import { buildService, endServices, type Service, startService } from '../support/service.ts';
import { staysAsLong } from './refusals.ts';
import { bound, createAccount, credentialsOf, readAccount, type SmppCaller, submitMany } from './world.ts';

let db: TestDatabase;
let service: Service;
let port: number;
const dataDir = makeFolder('data');
before(async () => {
  await buildService();
  db = await createTestDatabase();
  port = await freePort();
  service = await start();
  await service.ready;
});
after(async () => {
  await endServices();
  await db.drop();
});

/** Anew with what it had before. */
function start(): Promise<Service> {
  return startService({
    dataDir,
    env: { DATABASE_URL: urlOf(db.connection), HELIOGRAPH_PROCESSES: '2', HELIOGRAPH_SMPP_PORT: String(port) },
  });
}

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
    await staysAsLong(service, caller, admitted);
    for (const client of clients) client.close();
  });

  test('SIGTERM: every bind is unbound and what was answered is kept; its receipts come to who binds again', async () => {
    const caller = await createCaller('enterprise', 6);
    const answered = new Set<string>();
    const clients = await Promise.all(Array.from({ length: 4 }, () => bound({ port }, caller, 'bind_transmitter')));
    const streams = clients.map((client) => submitUntilUnbound(client, answered));
    await eventually('submits are under way on all binds', () => answered.size >= 200);
    service.kill('SIGTERM');
    await Promise.all(streams);
    const { code } = await service.ended;
    assert.equal(code, 0, service.output());
    const { rows } = await db.database.query<{ count: number }>(
      'select count(*)::integer as count from message where id = any($1::uuid[])',
      [[...answered].map(uuidOf)],
    );
    assert.equal(rows[0]?.count, answered.size, 'all that was answered is kept');

    service = await start();
    await service.ready;
    const receivers = await Promise.all([0, 1].map(() => bound({ port }, caller, 'bind_receiver')));
    const left = new Set(answered);
    await Promise.all(receivers.map((client) => takeReceipts(client, left)));
    for (const client of [...clients, ...receivers]) client.close();
  });
});

const window = 20;

/** Keeps submits open until the service unbinds. Submits that the service no longer reads have no answer. */
async function submitUntilUnbound(client: RawClient, answered: Set<string>): Promise<void> {
  let sequence = 100;
  const submit = () => client.send({ ...textTo('15005550100'), command: 'submit_sm', status: 0, sequence: ++sequence });
  for (let count = 0; count < window; count++) submit();
  for (;;) {
    const pdu = await client.next();
    if (pdu.command === 'unbind') {
      client.send({ command: 'unbind_resp', status: 0, sequence: pdu.sequence });
      return;
    }
    if (pdu.command !== 'submit_sm_resp') continue;
    assert.equal(pdu.status, 0);
    answered.add(pdu.messageId);
    if (sequence < 2000) submit();
  }
}

/** Acknowledges receipts until each of these ids has one, at whichever receiver. */
async function takeReceipts(client: RawClient, left: Set<string>): Promise<void> {
  const named = () => {
    for (const pdu of client.received) {
      if (pdu.command !== 'deliver_sm') continue;
      left.delete(/^id:(\S+)/.exec(pdu.shortMessage.toString())?.[1] ?? '');
      client.send({ command: 'deliver_sm_resp', status: 0, sequence: pdu.sequence, messageId: '', tlvs: [] });
    }
    (client.received as unknown[]).length = 0;
    return left.size === 0;
  };
  await eventually('each has its receipt', named, { withinMs: 60_000 });
}
