// Which carrier takes a text: section 14 of the contract, with an empty route table.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { carriersChannel } from '../../src/delivery/carrier/store.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { type Answer, send, type TestDeveloper } from '../support/developer.ts';
import { createKnownCarriers } from '../support/known-carriers.ts';
import { approveAll, createOperator } from '../support/operator.ts';

const path = '/portal/v1/operator/carriers';
const routesPath = '/portal/v1/operator/routes';

for (const environment of ['sandbox', 'production'] as const) {
  describe(environment, () => {
    let app: TestApp;
    let operator: TestDeveloper;
    let caller: TestApplication;
    let token: Record<string, string>;
    let carriers: ReturnType<typeof createKnownCarriers>;
    before(async () => {
      app = await createTestApp({ delivery: 'held', env: { HELIOGRAPH_ENV: environment, HELIOGRAPH_SENDERS: 'open' } });
      operator = await createOperator(app);
      carriers = createKnownCarriers(app, operator);
      caller = await createRegistered(app, undefined, 'enterprise', operator);
      // In production a registration waits for an operator.
      await approveAll(operator);
      token = bearer(await getToken(app, caller.client, 'verify:manage'));
    });
    after(() => app.close());
    beforeEach(() => carriers.clear());

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

      test('texts to test numbers always go to the virtual handsets', async () => {
        await carriers.connect('acme', 'bound');
        assert.equal(await carrierOf(await sendText('+15005550100')), 'sandbox');
      });
    }

    test('of all carriers by name, the first that is up is chosen', async () => {
      const second = await carriers.connect('second', 'bound');
      const first = await carriers.connect('first', 'waiting');
      assert.equal(await carrierOf(await sendText()), second);
      await carriers.bind('first', 'bound');
      assert.equal(await carrierOf(await sendText()), first);
      await carriers.setPaused('first', true);
      assert.equal(await carrierOf(await sendText()), second);
    });

    test('a send is accepted while all are down; a start is 503 after 30 s', async () => {
      const key = await carriers.connect('acme');
      assert.equal((await startVerification()).status, 200, 'it may be up in a moment');
      app.clock.advance(30_000);
      const refused = await startVerification();
      assert.deepEqual([refused.status, refused.body.code], [503, 'UNAVAILABLE']);
      assert.equal(await carrierOf(await sendText()), key);
      await carriers.bind('acme', 'bound');
      assert.equal((await startVerification()).status, 200);
      await carriers.setPaused('acme', true);
      app.clock.advance(30_000);
      assert.equal((await startVerification()).status, 503, 'a paused carrier sends no code either');
    });

    test('the node that answers a change acts by it at once, also while no NOTIFY comes', async () => {
      await app.db.database.query(
        `select pg_terminate_backend(pid, 10000) from pg_stat_activity
         where datname = current_database() and query = 'listen ${carriersChannel}'`,
      );
      const settings = { host: '127.0.0.1', port: 2775, system_id: 'me', password: 'secret' };
      const made = await operator.send('POST', path, { name: 'acme', kind: 'smpp', settings });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      assert.match((await carrierOf(await sendText())) ?? '', /^acme#/);
      const routes = [{ name: 'all', match: {}, carriers: [{ carrier: 'acme' }] }];
      const put = await operator.send('PUT', routesPath, { version: 0, routes });
      assert.equal(put.status, 200, JSON.stringify(put.body));
      const explained = await operator.send('POST', `${routesPath}/explain`, { to: '+447700900123' });
      assert.equal(explained.body.version, 1);
      assert.equal((await operator.send('PUT', routesPath, { version: 1, routes: [] })).status, 200);
      assert.equal((await operator.send('DELETE', `${path}/acme?force=true`)).status, 204);
      const after = await sendText();
      if (environment === 'production') assert.equal(after.status, 503);
      else assert.equal(await carrierOf(after), 'sandbox');
    });
  });
}
