// Which channels work in production, and where an application may call: section 21 of the contract.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type Caller, createProduction, type Production, spendRow } from '../support/production.ts';

let production: Production;
let caller: Caller;
before(async () => {
  production = await createProduction();
  caller = await production.createCaller({ plan: 'free' });
});
after(() => production.app.close());

let numbers = 10_000;
const newNumber = () => `+4477009${numbers++}`;
const carriers = '/portal/v1/operator/carriers';
const describeCalls = { url: '{{base}}/calls', json: { to: '{{to}}', say: '{{text}}' }, accepted: [{ status: [200] }] };
const settings = { base: 'http://127.0.0.1:9', allow_private: true, describe: describeCalls };

async function limits(body: object) {
  const path = `/portal/v1/operator/applications/${caller.id}`;
  return production.operator.send<{ call_countries: string[]; code?: string }>('PATCH', path, body);
}

describe('a channel works once a carrier offers it', () => {
  test('400 UNSUPPORTED_CHANNEL names those which work; a carrier declares its channels', async () => {
    const { operator, app } = production;
    const before = await caller.start(newNumber(), { channel: 'voice' });
    assert.deepEqual([before.status, before.body.code], [400, 'UNSUPPORTED_CHANNEL']);
    assert.match(before.body.message ?? '', /Use sms\.$/);

    const wrong = { name: 'calls', kind: 'http', settings: { ...settings, channels: ['fax'] } };
    assert.equal((await operator.send('POST', carriers, wrong)).status, 400);
    const preset = {
      preset: 'twilio',
      account_sid: 'AC1',
      auth_token: 'x',
      base: 'http://127.0.0.1:9',
      allow_private: true,
    };
    const fixed = { name: 'calls', kind: 'http', settings: { ...preset, channels: ['voice'] } };
    assert.equal((await operator.send('POST', carriers, fixed)).status, 400, 'a preset knows its channels');

    const right = { name: 'calls', kind: 'http', settings: { ...settings, channels: ['voice'] } };
    const { status, body } = await operator.send<{ settings: { channels: string[] } }>('POST', carriers, right);
    assert.deepEqual([status, body.settings.channels], [201, ['voice']]);
    await eventually('the node to know it', () => app.app.carriers().length > 1);
    const after = await caller.start(newNumber(), { channel: 'whatsapp' });
    assert.match(after.body.message ?? '', /Use sms or voice\.$/);
  });
});

describe('the channel inbound', () => {
  test('is named by the 400 once the application has a number of a carrier whose senders are trusted', async () => {
    const { operator } = production;
    const number = '+447800900150';
    const unknown = async () => (await caller.start(newNumber(), { channel: 'pigeon' })).body;
    const held = { application_id: caller.id, api: 'sms', carrier: 'acme' };
    const put = await operator.send('PUT', `/portal/v1/operator/numbers/${encodeURIComponent(number)}`, held);
    assert.equal(put.status, 200, JSON.stringify(put.body));
    assert.match((await unknown()).message ?? '', /Use sms or voice\.$/);
    assert.equal((await caller.start(newNumber(), { channel: 'inbound' })).body.code, 'UNSUPPORTED_CHANNEL');
    const settings = { host: '127.0.0.1', system_id: 'me', trusted_sender: true };
    const changed = await operator.send('PATCH', `${carriers}/acme`, { settings });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const { message, details } = await unknown();
    assert.match(message ?? '', /Use sms, voice or inbound\.$/);
    assert.deepEqual(details, [{ field: 'channel', message: 'must be sms, voice or inbound' }]);
    const step = await caller.start(newNumber(), { fallback: [{ channel: 'pigeon' }] });
    assert.match(step.body.message ?? '', /Use sms or voice\.$/, 'nothing follows by a text of the person');
    const started = await caller.start(newNumber(), { channel: 'inbound' });
    assert.equal((started.body as { inbound?: { number: string } }).inbound?.number, number);
  });
});

describe('calls', () => {
  test('blocked until an operator allows the country to the application', async () => {
    const to = newNumber();
    const blocked = await caller.start(to, { channel: 'voice' });
    assert.deepEqual(
      [blocked.status, blocked.body.status, blocked.body.reason, blocked.body.sent],
      [200, 'blocked', 'channel_not_allowed', false],
    );
    const texted = await caller.start(to);
    assert.equal((await caller.start(to, { channel: 'voice' })).body.status, 'blocked', 'nor does it continue a text');
    assert.equal((await limits({ call_countries: ['ZZ'] })).status, 400);
    assert.equal((await limits({})).status, 400);
    assert.deepEqual((await limits({ call_countries: ['gb', 'DE'] })).body.call_countries, ['GB', 'DE']);

    const called = await caller.start(to, { channel: 'voice' });
    assert.deepEqual([called.body.id, called.body.status, called.body.channel], [texted.body.id, 'pending', 'voice']);
    assert.equal((await caller.start('+33612345678', { channel: 'voice' })).body.reason, 'channel_not_allowed');
    assert.equal((await limits({ call_countries: [] })).body.call_countries.length, 0);
    assert.equal((await caller.start(newNumber(), { channel: 'voice' })).body.status, 'blocked');
  });

  test('a call counts as ten segments of the day', async () => {
    await limits({ call_countries: ['GB'], segments_per_day: 1000 });
    const before = (await spendRow(production.app, caller.id))?.segments ?? 0;
    assert.equal((await caller.start(newNumber(), { channel: 'voice' })).body.status, 'pending');
    assert.equal((await spendRow(production.app, caller.id))?.segments, before + 10);
    await limits({ segments_per_day: before + 19 });
    assert.equal((await caller.start(newNumber(), { channel: 'voice' })).body.reason, 'spend_limit');
    assert.equal((await caller.start(newNumber())).body.status, 'pending', 'a text still fits');
  });
});
