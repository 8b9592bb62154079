// What a person's own text approves is no code that was entered: the guard by conversion counts only codes (section 21).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInbound } from '../../src/compose/inbound.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createProduction } from '../support/production.ts';

test('an approval by inbound is none of the numbers that entered a code', async (t) => {
  const { app, operator, createCaller } = await createProduction();
  t.after(() => app.close());
  const caller = await createCaller();
  const settings = { host: '127.0.0.1', system_id: 'me', trusted_sender: true };
  assert.equal((await operator.send('PATCH', '/portal/v1/operator/carriers/acme', { settings })).status, 200);
  const number = '+447800900151';
  const held = { application_id: caller.id, carrier: 'acme' };
  const put = await operator.send('PUT', `/portal/v1/operator/numbers/${encodeURIComponent(number)}`, held);
  assert.equal(put.status, 200, JSON.stringify(put.body));

  const to = '+447700900152';
  const { body } = await caller.start(to, { channel: 'inbound' });
  const { inbound } = body as unknown as { inbound: { number: string; text: string } };
  assert.equal(inbound.number, number);
  const { rows } = await app.db.database.query<{ id: number }>(`select id from carrier where name = 'acme'`);
  const { config, clock, keys } = app;
  const { receiver } = createInbound({ config, database: app.db.database, clock, keys, wake: () => {} });
  const source = { key: `acme#${rows[0]?.id}`, account: 'acme' };
  await receiver.receive(source, [{ carrierMessageId: 'a-1', from: to, to: number, text: inbound.text, part: null }]);
  app.clock.advance(11 * 60_000);
  await app.delivery.maintenance.runAll();
  const { rows: ended } = await app.db.database.query<{ verifications: number; approved: number; carrier: string }>(
    'select verifications, approved, carrier from verification_step where application_id = $1',
    [uuidOf(caller.id)],
  );
  assert.deepEqual(ended, [{ verifications: 1, approved: 1, carrier: '##inbound' }]);
  const { count } = await app.db.database.query('select from conversion_number where application_id = $1', [
    uuidOf(caller.id),
  ]);
  assert.equal(count, 0);
});
