// Which carrier takes a text: section 14 of the contract, with an empty route table.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { type BindState, writeBinds } from '../../src/delivery/carrier-bind-store.ts';
import type { KnownCarrier } from '../../src/delivery/carrier-directory.ts';
import { carrierKey, findCarrier, notifyCarriers } from '../../src/delivery/carrier-store.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { type Answer, send, type TestDeveloper } from '../support/developer.ts';
import { approveAll, createOperator } from '../support/operator.ts';
import { until } from '../support/texts.ts';

const path = '/portal/v1/operator/carriers';

for (const environment of ['sandbox', 'production'] as const) {
  describe(environment, () => {
    let app: TestApp;
    let operator: TestDeveloper;
    let caller: TestApplication;
    let token: Record<string, string>;
    before(async () => {
      app = await createTestApp({ delivery: 'held', env: { HELIOGRAPH_ENV: environment, HELIOGRAPH_SENDERS: 'open' } });
      operator = await createOperator(app);
      caller = await createRegistered(app, undefined, 'enterprise', operator);
      // In production a registration waits for an operator.
      await approveAll(operator);
      token = bearer(await getToken(app, caller.client, 'verify:manage'));
    });
    after(() => app.close());
    beforeEach(async () => {
      await app.db.database.query('truncate carrier, carrier_bind, carrier_log, carrier_test');
      await seen((carriers) => Object.keys(carriers).length === 0);
    });

    /** Waits until the node has read the rows; it reads them by itself within 2 s. */
    async function seen(holds: (carriers: Record<string, string>) => boolean): Promise<void> {
      await notifyCarriers(app.db.database);
      await until('the node knows the change', async () => {
        const { body } = await operator.send<{ carriers: KnownCarrier[] }>('GET', '/portal/v1/operator/health');
        const states = body.carriers.map(({ name, state, paused }) => [name, paused ? 'paused' : state]);
        return holds(Object.fromEntries(states));
      });
    }

    async function connect(name: string, state?: BindState['state']): Promise<string> {
      const settings = { host: '127.0.0.1', system_id: 'me' };
      assert.equal((await operator.send('POST', path, { name, kind: 'smpp', settings })).status, 201);
      const row = await findCarrier(app.db.database, name);
      assert.ok(row, 'it was written');
      if (state !== undefined) await bind(name, state);
      else await seen((carriers) => carriers[name] === 'not_running');
      return carrierKey(row);
    }

    async function bind(name: string, state: BindState['state']): Promise<void> {
      const carrierId = (await findCarrier(app.db.database, name))?.id ?? 0;
      const sinceMs = app.clock.nowMs();
      const binds = [
        { slot: 1, state, mode: 'transceiver', host: null, sinceMs, error: null, nextTryAtMs: null } as const,
      ];
      await writeBinds(app.db.database, { carrierId, node: 'nod_a', binds }, app.clock.nowMs());
      await seen((carriers) => carriers[name] === (state === 'bound' ? 'up' : 'down'));
    }

    let numbers = 0;
    const sendText = (to = `+4477009${String(++numbers).padStart(5, '0')}`) =>
      send(app, 'POST', '/sms/v1/messages', {
        body: { to, from: 'ACME', message: 'Hi' },
        headers: { apikey: caller.apiKey },
      });
    const startVerification = (to = `+4477009${String(++numbers).padStart(5, '0')}`) =>
      send(app, 'POST', '/verify/v1/verifications', { body: { to, channel: 'sms' }, headers: token });
    async function carrierOf({ status, body }: Answer): Promise<string | undefined> {
      assert.equal(status, 201, JSON.stringify(body));
      const { rows } = await app.db.database.query<{ carrier: string }>('select carrier from message where id = $1', [
        uuidOf(String(body.id)),
      ]);
      return rows[0]?.carrier;
    }

    if (environment === 'production') {
      test('503 with Retry-After while there is no carrier', async () => {
        for (const answer of [await sendText(), await startVerification()]) {
          assert.deepEqual([answer.status, answer.body.code], [503, 'UNAVAILABLE']);
          assert.ok(answer.headers.get('retry-after'), 'it says when to try again');
        }
      });
    } else {
      test('without carriers texts go to the virtual handsets', async () => {
        assert.equal(await carrierOf(await sendText()), 'sandbox');
        assert.equal((await startVerification()).status, 200);
      });

      test('test numbers always do', async () => {
        await connect('acme', 'bound');
        assert.equal(await carrierOf(await sendText('+15005550100')), 'sandbox');
      });
    }

    test('all carriers, by name, the first that is up', async () => {
      const second = await connect('second', 'bound');
      const first = await connect('first', 'waiting');
      assert.equal(await carrierOf(await sendText()), second);
      await bind('first', 'bound');
      assert.equal(await carrierOf(await sendText()), first);
      await operator.send('POST', `${path}/first/pause`);
      await seen((carriers) => carriers.first === 'paused');
      assert.equal(await carrierOf(await sendText()), second);
    });

    test('a send is accepted while all are down; a start is 503 after 30 s', async () => {
      const key = await connect('acme');
      assert.equal((await startVerification()).status, 200, 'it may be up in a moment');
      app.clock.advance(30_000);
      const refused = await startVerification();
      assert.deepEqual([refused.status, refused.body.code], [503, 'UNAVAILABLE']);
      assert.equal(await carrierOf(await sendText()), key);
      await bind('acme', 'bound');
      assert.equal((await startVerification()).status, 200);
      await operator.send('POST', `${path}/acme/pause`);
      await seen((carriers) => carriers.acme === 'paused');
      app.clock.advance(30_000);
      assert.equal((await startVerification()).status, 503, 'a paused carrier sends no code either');
    });
  });
}
