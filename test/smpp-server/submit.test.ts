import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { encodeText } from '../../src/smpp/charset.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createProduction, spendRow } from '../support/production.ts';
import {
  bound,
  createAccount,
  createSmppCaller,
  createSmppWorld,
  readAccount,
  type SmppCaller,
  type SmppWorld,
  statusOf,
  submitMany,
} from './world.ts';

describe('submit_sm is a send of the SMS API', () => {
  let world: SmppWorld;
  let caller: SmppCaller;
  before(async () => {
    world = await createSmppWorld({ delivery: 'held' });
    ({ caller } = world);
  });
  after(() => world.close());

  const get = (path: string, of = caller) => send(world.app, 'GET', path, { headers: { apikey: of.apiKey } });

  test('the answer has the id of a record, as the text was submitted', async () => {
    const client = await bound(world, caller);
    const shortMessage = encodeText('Ürün: 5 € @ home', 'ucs2');
    const answer = await client.submit({ dataCoding: 8, shortMessage, validityPeriod: '000000010000000R' });
    assert.equal(answer.status, 0);
    const { status, body } = await get(`/sms/v1/messages/${answer.messageId}`);
    assert.equal(status, 200);
    assert.deepEqual(
      [body.to, body.from, body.message, body.status],
      ['+447700900123', 'ACME', 'Ürün: 5 € @ home', 'queued'],
    );
    assert.equal(Date.parse(String(body.expires_at)) - Date.parse(String(body.created_at)), 3_600_000);
    client.close();
  });

  test('a schedule waits, and priority needs permission only in production', async () => {
    const client = await bound(world, caller);
    const answer = await client.submit({ scheduleDeliveryTime: '000001000000000R', priority: 3 });
    const { body } = await get(`/sms/v1/messages/${answer.messageId}`);
    assert.equal(body.status, 'scheduled');
    client.close();
  });

  test('refusals have the codes of the standard, and nothing is kept', async () => {
    const client = await bound(world, caller);
    const before = (await get('/sms/v1/messages?limit=100')).body.data as unknown[];
    const statuses = [
      await statusOf(client, { destination: '07700900123' }),
      await statusOf(client, { source: '' }),
      await statusOf(client, { dataCoding: 4 }),
      await statusOf(client, { shortMessage: Buffer.alloc(0) }),
      await statusOf(client, { esmClass: 0x04 }),
      await statusOf(client, { validityPeriod: 'x' }),
      await statusOf(client, { scheduleDeliveryTime: 'x' }),
    ];
    assert.deepEqual(statuses, [0x0b, 0x0a, 0x104, 0x01, 0x43, 0x62, 0x61]);
    assert.equal(((await get('/sms/v1/messages?limit=100')).body.data as unknown[]).length, before.length);
    await eventually('they are shown', async () => (await readAccount(caller)).problems.length >= 7);
    const { problems } = await readAccount(caller);
    assert.ok(problems.some(({ status_name, why }) => status_name === 'ESME_RINVDSTADR' && /international/.test(why)));
    client.close();
  });

  test('a text of more than ten segments is 0x01', async () => {
    const client = await bound(world, caller);
    const payload = (text: string) => ({
      shortMessage: Buffer.alloc(0),
      tlvs: [{ tag: 0x0424, value: Buffer.from(text) }],
    });
    assert.equal(await statusOf(client, payload('x'.repeat(1531))), 0x01);
    assert.equal(await statusOf(client, payload('x'.repeat(1530))), 0);
    client.close();
  });

  test('submits and HTTP requests share the limits of the registration; a throttled one is 0x58 and never extends a block', async () => {
    const free = await createSmppCaller(world.app, 'free');
    const client = await bound(world, free);
    const byHttp = await Promise.all(
      Array.from({ length: 10 }, () =>
        send(world.app, 'POST', '/sms/v1/messages', {
          headers: { apikey: free.apiKey },
          body: { to: '+447700900123', from: 'ACME', message: 'x' },
        }),
      ),
    );
    assert.ok(byHttp.every(({ status }) => status === 201));
    const answers = await submitMany(
      client,
      Array.from({ length: 60 }, () => ({})),
    );
    assert.equal(answers.filter(({ status }) => status === 0).length, 50);
    assert.equal(answers.filter(({ status }) => status === 0x58).length, 10);
    for (let tries = 0; tries < 5; tries++) {
      world.app.clock.advance(2000);
      assert.equal((await client.submit()).status, 0x58);
    }
    // An HTTP caller that came back as often would wait longer.
    world.app.clock.advance(60_000 - 10_000);
    assert.equal((await client.submit()).status, 0, 'a slot is free exactly when its minute has passed');
    const { data } = (await get('/sms/v1/messages?limit=100', free)).body as { data: unknown[] };
    assert.equal(data.length, 61, 'nothing of what was throttled is kept');
    client.close();
  });

  test('a plan change acts on the next submit of the same bind', async () => {
    const free = await createSmppCaller(world.app, 'free');
    const client = await bound(world, free);
    await submitMany(
      client,
      Array.from({ length: 61 }, () => ({})),
    );
    assert.equal((await client.submit()).status, 0x58);
    await free.developer.send('POST', `/portal/v1/applications/${free.id}/registrations`, { api: 'sms', plan: 'pro' });
    assert.equal((await client.submit()).status, 0);
    await free.developer.send('DELETE', `/portal/v1/applications/${free.id}/registrations/sms`);
    await client.take('unbind');
    client.close();
  });

  test('submits are metered and traced like requests', async () => {
    const own = await createSmppCaller(world.app, 'pro');
    const client = await bound(world, own);
    const { messageId } = await client.submit();
    await statusOf(client, { destination: 'x' });
    await world.app.app.metering.flush();
    const usage = await own.developer.send<{
      data: { api: string; steps: { admitted: number; messages: number }[] }[];
    }>('GET', `/portal/v1/applications/${own.id}/usage?step=day`);
    const [today] = usage.body.data.find(({ api }) => api === 'sms')?.steps.slice(-1) ?? [];
    assert.deepEqual([today?.admitted, today?.messages], [2, 1]);
    const { rows } = await world.app.db.database.query<{ method: string; status: number }>(
      'select method, status from request_trace where application_id = $1 order by status',
      [own.id],
    );
    assert.deepEqual(
      rows.map(({ method, status }) => [method, status]),
      [
        ['SMPP', 201],
        ['SMPP', 400],
      ],
    );
    assert.match(messageId, /^msg_/);
    client.close();
  });

  test('someone who opted out gets nothing: the submit is accepted, and its record failed', async () => {
    const number = '+447700900777';
    const put = await send(world.app, 'PUT', `/sms/v1/opt-outs/${number}`, { headers: { apikey: caller.apiKey } });
    assert.equal(put.status, 200);
    const client = await bound(world, caller);
    const answer = await client.submit({ destination: number.slice(1) });
    assert.equal(answer.status, 0);
    const { body } = await get(`/sms/v1/messages/${answer.messageId}`);
    assert.deepEqual([body.status, (body.error as { code: string }).code], ['failed', 'blocked_by_recipient']);
    const receipt = await client.takeReceipt();
    assert.match(receipt.shortMessage.toString(), /stat:REJECTD err:004/);
    client.close();
  });

  test('a thousand submits of one bind are answered, each with its own id', async () => {
    const client = await bound(world, caller);
    const answers = await submitMany(
      client,
      Array.from({ length: 1000 }, () => ({})),
    );
    assert.ok(answers.every(({ status }) => status === 0));
    assert.equal(new Set(answers.map(({ messageId }) => messageId)).size, 1000);
    client.close();
  });
});

test('in production, a text beyond the segments of the day is 0x45; of one turn, those that fit are kept', async () => {
  const env = { HELIOGRAPH_SENDERS: 'open', HELIOGRAPH_SMPP_PORT: '2775' };
  const { app, operator, createCaller } = await createProduction({ env });
  const application = await createCaller({ plan: 'enterprise', apis: ['sms'] });
  const account = await createAccount(application, { addresses: ['127.0.0.1/32'] });
  const own = { ...application, account };
  const path = `/portal/v1/operator/applications/${own.id}`;
  assert.equal((await operator.send('PATCH', path, { segments_per_day: 4 })).status, 200);
  const client = await bound({ port: app.app.smpp.port ?? 0 }, own);
  const short = { destination: '442079460958' };
  const long = { ...short, shortMessage: Buffer.from('x'.repeat(250)) };
  const answers = await submitMany(client, [long, short, long, short, short]);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [0, 0, 0, 0x45, 0x45],
  );
  assert.equal((await spendRow(app, own.id))?.segments, 4);
  const { rows } = await app.db.database.query<{ segments: number }>(
    'select sum(segment_count)::integer as segments from message',
  );
  assert.equal(rows[0]?.segments, 4, 'nothing of what was refused is kept');
  await eventually('it is shown why', async () =>
    (await readAccount(own)).problems.some(
      ({ status_name, why }) => status_name === 'ESME_RSUBMITFAIL' && /4 segments of the day/.test(why),
    ),
  );
  client.close();
  await app.close();
});
