// A step of a fallback does what the application may do when the step is taken: section 21 of the contract, in production.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { eventually } from '../support/eventually.ts';
import { type Caller, createProduction, type Production } from '../support/production.ts';

/** What the provider was asked to send. */
const sent: { to: string; kind: string }[] = [];
const provider = createServer(async (request, response) => {
  let text = '';
  for await (const piece of request) text += piece;
  sent.push({ to: JSON.parse(text).to, kind: request.url ?? '' });
  response.end('{}');
});
let production: Production;
before(async () => {
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
  production = await createProduction({ delivery: undefined });
  const base = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  for (const channel of ['sms', 'voice'])
    await addCarrier(channel, {
      ...{ base, allow_private: true, channels: [channel] },
      describe: { url: `{{base}}/${channel}`, json: { to: '{{to}}', text: '{{text}}' }, accepted: [{ status: [200] }] },
    });
  assert.equal((await production.operator.send('DELETE', '/portal/v1/operator/carriers/acme')).status, 204);
  await eventually('the node to know its carriers', () => production.app.app.carriers().length === 2);
});
after(async () => {
  await production.app.close();
  await new Promise((done) => provider.close(done));
});

async function addCarrier(name: string, settings: object): Promise<void> {
  const { status, body } = await production.operator.send('POST', '/portal/v1/operator/carriers', {
    ...{ name, kind: 'http', settings },
  });
  assert.equal(status, 201, JSON.stringify(body));
}

let numbers = 10_000;

async function createCaller(limits: object): Promise<Caller> {
  const caller = await production.createCaller({ plan: 'enterprise' });
  await limit(caller, limits);
  return caller;
}

async function limit({ id }: Caller, limits: object): Promise<void> {
  const { status, body } = await production.operator.send('PATCH', `/portal/v1/operator/applications/${id}`, limits);
  assert.equal(status, 200, JSON.stringify(body));
}

/** A code by text, with a call to follow; `act` comes between the two. Returns what became of the step, and all sends. */
async function stepAfter(caller: Caller, act: () => Promise<unknown>) {
  const to = `+4477009${numbers++}`;
  const started = await caller.start(to, { fallback: [{ channel: 'voice', after_seconds: 5 }] });
  assert.equal(started.body.status, 'pending', JSON.stringify(started.body));
  await eventually('the text', () => sent.some((each) => each.to === to));
  await act();
  production.app.clock.advance(5000);
  const taken = await eventually('the step to be over', async () => {
    const { rows } = await production.app.db.database.query<{ taken: { skipped?: string }[] }>(
      'select taken from verification_fallback where verification_id = $1 and due_at is null',
      [uuidOf(started.body.id)],
    );
    return rows[0]?.taken;
  });
  const isCalled = taken.length > 0 && taken[0]?.skipped === undefined;
  if (isCalled) await eventually('the call', () => sent.some((each) => each.to === to && each.kind === '/voice'));
  return { skipped: taken[0]?.skipped, kinds: sent.filter((each) => each.to === to).map(({ kind }) => kind) };
}

const both = ['/sms', '/voice'];
const calls = { call_countries: ['GB'] };

describe('a call that follows a text', () => {
  test('is made where the application may call, by the permission of now', async () => {
    const caller = await createCaller({ call_countries: [] });
    assert.deepEqual((await stepAfter(caller, () => limit(caller, calls))).kinds, both);
    assert.deepEqual((await stepAfter(caller, async () => {})).kinds, both);
  });

  test('is skipped once an operator takes the permission back', async () => {
    const caller = await createCaller(calls);
    const { skipped, kinds } = await stepAfter(caller, () => limit(caller, { call_countries: [] }));
    assert.deepEqual([skipped, kinds], ['channel_not_allowed', ['/sms']]);
  });

  test('is skipped once the segments of the day do not suffice, also where there was no limit before', async () => {
    const caller = await createCaller(calls);
    const { skipped, kinds } = await stepAfter(caller, () => limit(caller, { segments_per_day: 5 }));
    assert.deepEqual([skipped, kinds], ['spend_limit', ['/sms']]);
  });

  const ends: [name: string, act: (caller: Caller) => Promise<{ status: number }>][] = [
    [
      'the registration is deleted',
      ({ id, developer }) => developer.send('DELETE', `/portal/v1/applications/${id}/registrations/verify`),
    ],
    ['the application is deleted', ({ id, developer }) => developer.send('DELETE', `/portal/v1/applications/${id}`)],
    [
      'the account is disabled',
      async ({ developer }) => {
        const { body } = await developer.send<{ id: string }>('GET', '/portal/v1/me');
        const path = `/portal/v1/operator/accounts/${body.id}/disable`;
        return production.operator.send('POST', path, { reason: 'abuse' });
      },
    ],
  ];
  for (const [name, act] of ends)
    test(`is not made once ${name}`, async () => {
      const caller = await createCaller(calls);
      const { kinds } = await stepAfter(caller, async () => {
        const { status } = await act(caller);
        assert.ok(status < 300, String(status));
      });
      assert.deepEqual(kinds, ['/sms']);
    });
});
