import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { send } from '../support/developer.ts';

/**
 * What Postgres says when a table cannot grow: the transaction is undone, reading goes on. A full disk under its log is
 * the end of the server and its recovery, which is tried where Postgres is killed.
 */
const fill = `
  create function disk_is_full() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file "base/1/1": No space left on device' using errcode = '53100'; end $$;
  create trigger disk_is_full before insert on message for each row execute function disk_is_full();
  create trigger disk_is_full before insert on verification for each row execute function disk_is_full()`;
const makeRoom = 'drop function disk_is_full cascade';

let app: TestApp;
let own: TestApplication;
let token: string;
before(async () => {
  app = await createTestApp();
  own = await createRegistered(app);
  token = await getToken(app, own.client, 'verify:manage');
});
after(() => app.close());

const text = { to: '+447700900123', from: 'ACME', message: 'Hello' };
const sendText = () => send(app, 'POST', '/sms/v1/messages', { headers: { apikey: own.apiKey }, body: text });
const start = () => {
  const body = { to: '+447700900123', channel: 'sms' };
  return send(app, 'POST', '/verify/v1/verifications', { headers: bearer(token), body });
};

describe('a disk that is full', () => {
  test('writes are a 503 with Retry-After, reading and tokens go on, and it passes', async () => {
    const { body: before } = await sendText();
    await app.db.database.query(fill);
    for (const refused of await Promise.all([sendText(), sendText(), sendText(), start(), start()])) {
      assert.deepEqual(
        [refused.status, refused.body.code, refused.headers.get('Retry-After')],
        [503, 'UNAVAILABLE', '1'],
      );
      assert.doesNotMatch(JSON.stringify(refused.body), /extend|device/, 'nothing of what Postgres said');
    }
    const read = await send(app, 'GET', `/sms/v1/messages/${before.id}`, { headers: { apikey: own.apiKey } });
    assert.equal(read.status, 200);
    assert.ok(await getToken(app, own.client, 'verify:manage'));
    assert.equal((await send(app, 'GET', '/readyz')).status, 200);

    await app.db.database.query(makeRoom);
    assert.equal((await sendText()).status, 201);
    assert.equal((await start()).status, 200);
    const list = await send<{ data: unknown[] }>(app, 'GET', '/sms/v1/messages', { headers: { apikey: own.apiKey } });
    assert.equal(list.body.data.length, 2, 'of what was refused nothing is there');
  });
});
