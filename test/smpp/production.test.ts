// The product as an operator and a developer meet it in production: the public API, the commands, and a Net::SMPP SMSC as
// the carrier. Nothing of the service is imported.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { asDeveloper, send, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { setUpFactor } from '../support/second-factor.ts';
import { buildService, endServices, program, type Service, startService } from '../support/service.ts';
import type { Refusal, TextRecord } from '../support/texts.ts';
import { type PerlSmsc, startPerlSmsc } from './net-smpp.ts';

const env = { HELIOGRAPH_ENV: 'production', HELIOGRAPH_SECRET: 'a secret of many characters, for tests only' };
const carriers = '/portal/v1/operator/carriers';
const phone = '+447400123456';

let service: Service;
let smsc: PerlSmsc;
let operator: TestDeveloper;
let application: TestApplication;
before(async () => {
  await buildService();
  smsc = await startPerlSmsc();
  service = await startService({ env });
  await service.ready;
});
after(async () => {
  await endServices();
  await smsc.stop();
});

/** Follows the link that `npm run operator` prints. */
async function becomeOperator(email: string): Promise<TestDeveloper> {
  const command = ['node', program, 'operator', email] satisfies [string, ...string[]];
  const printed = await startService({ dataDir: service.dataDir, env, command });
  assert.equal((await printed.ended).code, 0, printed.output());
  // The command has another PORT than the service, and still names the service's.
  assert.ok(printed.output().includes(`${service.url}/#/set-password/`), printed.output());
  const token = /set-password\/(\w+)/.exec(printed.output())?.[1];
  const password = 'another sentence, known to no one';
  const answer = await send(service, 'POST', '/portal/v1/password-resets', { body: { token, password } });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  const boss = asDeveloper(service, email, password, answer);
  assert.equal((await boss.send('GET', carriers)).status, 403, 'until there is a second factor');
  await setUpFactor(boss, systemTime);
  return boss;
}

const systemTime = { nowMs: () => Date.now() };

async function approveAll(): Promise<void> {
  const path = '/portal/v1/operator/registrations';
  const { body } = await operator.send<{ data: { id: string }[] }>('GET', path);
  assert.equal(body.data.length, 2, 'both registrations wait');
  for (const { id } of body.data) {
    const { status } = await operator.send('POST', `${path}/${id}/approve`);
    assert.equal(status, 200);
  }
}

const sendSms = () =>
  send<TextRecord & Refusal>(service, 'POST', '/sms/v1/messages', {
    body: { to: phone, from: 'ACME', message: 'Grüße @ €5' },
    headers: { apikey: application.apiKey },
  });

interface Verification extends Refusal {
  id: string;
  status: string;
  valid: boolean;
  delivery: { status: string };
}

async function verify(path: string, body: object): Promise<{ status: number; body: Verification }> {
  const headers = bearer(await getToken(service, application.client, 'verify:manage'));
  return send<Verification>(service, 'POST', `/verify/v1/verifications${path}`, { body, headers });
}

describe('production', () => {
  test('a developer registers, and an operator approves', async () => {
    operator = await becomeOperator('operator@example.com');
    application = await createRegistered(service, ['sms', 'verify']);
    await approveAll();
    const asked = await application.developer.send<{ id: string }>(
      'POST',
      `/portal/v1/applications/${application.id}/senders`,
      { sender: 'ACME', countries: ['GB'] },
    );
    assert.equal(asked.status, 201, JSON.stringify(asked.body));
    const approved = await operator.send('POST', `/portal/v1/operator/senders/${asked.body.id}/approve`, {});
    assert.equal(approved.status, 200, JSON.stringify(approved.body));
  });

  test('without a carrier the start and every send say what is missing, and how to add it', async () => {
    await service.printed('NO CARRIER IS CONNECTED');
    const sent = await sendSms();
    assert.deepEqual([sent.status, sent.body.code], [503, 'UNAVAILABLE']);
    assert.match(sent.body.message, /no carrier.*command carriers.*docs\/carriers\.md/i);
    const started = await verify('', { to: phone, channel: 'sms' });
    assert.deepEqual([started.status, started.body.code], [503, 'UNAVAILABLE']);
    assert.equal(started.body.message, sent.body.message);
  });

  test('an operator connects a carrier, and it is up without a restart', async () => {
    const settings = {
      ...{ host: '127.0.0.1', port: smsc.port, system_id: 'heliograph', password: 'secret' },
      message_id: { response: 'hex', receipt: 'dec' },
    };
    const made = await operator.send('POST', carriers, { name: 'perl', kind: 'smpp', settings });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await eventually('the carrier to be up', async () => {
      const { body } = await operator.send<{ state: string }>('GET', `${carriers}/perl`);
      return body.state === 'up';
    });
  });

  test('a text reaches the SMSC and comes back delivered', async () => {
    const { status, body } = await sendSms();
    assert.equal(status, 201, JSON.stringify(body));
    const delivered = await eventually('the text to be delivered', async () => {
      const read = await send<TextRecord>(service, 'GET', `/sms/v1/messages/${body.id}`, {
        headers: { apikey: application.apiKey },
      });
      return read.body.status === 'delivered' && read.body;
    });
    assert.notEqual(delivered.delivered_at, null);
    const [arrived] = smsc.texts();
    assert.deepEqual([arrived?.from, arrived?.to], ['ACME', phone.slice(1)]);
    // GSM 03.38: ü is 7e, ß is 1e, @ is 00, € is 1b65.
    assert.equal(arrived?.octets.toString('hex'), '47727e1e652000201b6535');
  });

  test('a code reaches the SMSC, its text is delivered, and it approves the number', async () => {
    const { status, body } = await verify('', { to: phone, channel: 'sms' });
    assert.deepEqual([status, body.status], [200, 'pending'], JSON.stringify(body));
    const arrived = await eventually('the code to arrive', () => smsc.texts()[1]);
    const code = /\d{6}/.exec(arrived.octets.toString('latin1'))?.[0];
    await eventually('its text to be delivered', async () => {
      const headers = bearer(await getToken(service, application.client, 'verify:manage'));
      const read = await send<Verification>(service, 'GET', `/verify/v1/verifications/${body.id}`, { headers });
      return read.body.delivery.status === 'delivered';
    });
    const checked = await verify(`/${body.id}`, { code });
    assert.deepEqual([checked.status, checked.body.status, checked.body.valid], [200, 'approved', true]);
  });

  test('a second start knows the carrier, and says nothing of a missing one', async () => {
    service.kill('SIGTERM');
    await service.ended;
    service = await startService({ env, dataDir: service.dataDir });
    await service.printed('  Portal       ');
    assert.doesNotMatch(service.output(), /NO CARRIER/);
  });
});
