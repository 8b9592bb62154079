// A number that moves to another application while a person is asked to text it: section 21 of the contract.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createInbound } from '../../src/compose/inbound.ts';
import type { TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Caller, createProduction, type Production } from '../support/production.ts';

const number = '+447800900161';
const path = `/portal/v1/operator/numbers/${encodeURIComponent(number)}`;
const query = '?carrier=acme';
let production: Production;
let app: TestApp;
let first: Caller;
let second: Caller;
let key = '';
let texts = 0;

before(async () => {
  production = await createProduction();
  app = production.app;
  first = await production.createCaller();
  // It may read texts from phones.
  second = await production.createCaller({ apis: ['sms'] });
  const settings = { host: '127.0.0.1', system_id: 'me', trusted_sender: true };
  const patched = await production.operator.send('PATCH', '/portal/v1/operator/carriers/acme', { settings });
  assert.equal(patched.status, 200);
  const { rows } = await app.db.database.query<{ id: number }>(`select id from carrier where name = 'acme'`);
  key = `acme#${rows[0]?.id}`;
});
after(() => app.close());

async function give(application: Caller, carrier: string | null = 'acme'): Promise<void> {
  const held = { application_id: application.id, ...(carrier !== null && { carrier }) };
  const put = await production.operator.send('PUT', path, held);
  assert.equal(put.status, 200, JSON.stringify(put.body));
}

const takeAway = async (from = query) =>
  assert.equal((await production.operator.send('DELETE', `${path}${from}`)).status, 204);

async function started(to: string) {
  const { status, body } = await first.start(to, { channel: 'inbound' });
  assert.equal(status, 200, JSON.stringify(body));
  return { id: body.id, to, text: (body as unknown as { inbound: { text: string } }).inbound.text };
}

/** A text as the carrier brings it. */
async function bring(from: string, text: string): Promise<void> {
  const { config, clock, keys } = app;
  const { receiver } = createInbound({ config, database: app.db.database, clock, keys, wake: () => {} });
  const sent = { carrierMessageId: `m-${++texts}`, from, to: number, text, part: null };
  await receiver.receive({ key, account: 'acme', confirmsOptOuts: false }, [sent]);
}

async function storyOf(id: string) {
  const { body } = await first.developer.send<{ status: string; timeline: { event: string; detail: string }[] }>(
    'GET',
    `/portal/v1/applications/${first.id}/verifications/${id}`,
  );
  return { status: body.status, refused: body.timeline.filter(({ event }) => event === 'refused') };
}

async function textsOfSecond(from: string): Promise<unknown[]> {
  const { body } = await send<{ data: { message: string }[] }>(
    app,
    'GET',
    `/sms/v1/inbound?from=${encodeURIComponent(from)}`,
    { headers: second.key },
  );
  return body.data.map(({ message }) => message);
}

test('the text approves nothing at the application that lost it, and goes to the one that holds it', async () => {
  await give(first);
  const { id, to, text } = await started('+447700900161');
  await takeAway();
  await give(second);
  await bring(to, text);
  const { status, refused } = await storyOf(id);
  assert.equal(status, 'pending');
  assert.deepEqual(
    refused.map(({ detail }) => detail),
    ['The text came to a number that the application no longer holds, so it approves nothing'],
  );
  assert.deepEqual(await textsOfSecond(to), [text]);
  // An assignment by another carrier is none of this one; one by any is.
  await takeAway();
  await give(first, null);
  await bring(to, text);
  assert.equal((await storyOf(id)).status, 'approved');
  await takeAway('');
});

test('one that is taken away at that moment is taken away: the text waits for it', async () => {
  await give(first);
  const { id, to, text } = await started('+447700900162');
  let brought: Promise<void> | undefined;
  await app.db.database.transaction(async (tx) => {
    await tx.query('update own_number set application_id = $1 where number = $2', [second.id, number]);
    brought = bring(to, text);
    await eventually('the text to wait', async () => {
      const { count } = await app.db.database.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return count > 0;
    });
  });
  await brought;
  assert.equal((await storyOf(id)).status, 'pending');
  assert.deepEqual(await textsOfSecond(to), [text]);
});
