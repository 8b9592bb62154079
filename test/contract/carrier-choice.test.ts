// Which carrier takes a text: section 14 of the contract, with an empty route table.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { type Answer, send, type TestDeveloper } from '../support/developer.ts';
import { createKnownCarriers } from '../support/known-carriers.ts';
import { approveAll, createOperator } from '../support/operator.ts';

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

      test('test numbers always do', async () => {
        await carriers.connect('acme', 'bound');
        assert.equal(await carrierOf(await sendText('+15005550100')), 'sandbox');
      });
    }

    test('all carriers, by name, the first that is up', async () => {
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
  });
}
