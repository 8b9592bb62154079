// With another carrier at hand: what becomes of a code and of a plain text when an HTTP provider fails.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { decodeText } from '../../src/smpp/charset.ts';
import { bearer, getToken } from '../support/applications.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createHttpCarrierWorld, type HttpCarrierWorld } from '../support/http-carrier-world.ts';
import { type ScriptedSmsc, startScriptedSmsc } from '../support/scripted-smsc.ts';
import { type Double, type Fault, startDouble } from './provider.ts';

let world: HttpCarrierWorld;
let token: string;
let provider: Double;
let spare: ScriptedSmsc;
before(async () => {
  world = await createHttpCarrierWorld({ HELIOGRAPH_GUARD: '{"per_prefix":1000000}' });
  token = await getToken(world.app, world.sender.client, 'verify:manage');
  spare = await startScriptedSmsc();
});
after(async () => {
  await world.close();
  await spare.close();
});
afterEach(async () => {
  for (const name of ['first', 'spare']) {
    const { status } = await world.operator.send('DELETE', `${path}/${name}?force=true`);
    assert.equal(status, 204, name);
  }
  await provider.close();
});

const path = '/portal/v1/operator/carriers';

const describeIt = {
  url: '{{base}}/send',
  json: { to: '{{to|digits}}', text: '{{text}}', id: '{{id}}' },
  accepted: [{ status: [200] }],
  id: 'id',
};

/** The provider comes first by its name. */
async function connect(): Promise<void> {
  provider = await startDouble(({ body }) => ({ status: 200, body: { id: `p-${JSON.parse(body).id}` } }));
  const settings = { base: provider.url, describe: describeIt, on_doubt: 'hold', on_doubt_seconds: 300 };
  await world.connect(settings, 'first');
  const smpp = { host: '127.0.0.1', port: spare.port, system_id: 'spare' };
  const { status, body } = await world.operator.send('POST', path, { name: 'spare', kind: 'smpp', settings: smpp });
  assert.equal(status, 201, JSON.stringify(body));
  await eventually('the spare one is up', async () => (await world.read('spare')).state === 'up');
}

let numbers = 0;
async function verify(): Promise<void> {
  const body = { to: `+4477113${String(10_000 + numbers++)}`, channel: 'sms' };
  const answer = await send(world.app, 'POST', '/verify/v1/verifications', { body, headers: bearer(token) });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

const atProvider = () => provider.requests.map(({ body }) => JSON.parse(body).text as string);
const atSpare = () => spare.ledger('submit_sm').map(({ shortMessage }) => decodeText(shortMessage, 'gsm7'));

async function attemptsOf(id: string): Promise<number> {
  const { rows } = await world.app.db.database.query<{ attempt: number }>('select attempt from message where id = $1', [
    uuidOf(id),
  ]);
  return rows[0]?.attempt ?? 0;
}

const faults: [string, Fault][] = [
  ['502 after the body', { status: 502 }],
  ['an answer that breaks off', 'broken'],
  ['429 for ten seconds', { status: 429, headers: { 'Retry-After': '10' } }],
  ['a refused account', { status: 401 }],
];

describe('a provider that fails', () => {
  for (const [name, fault] of faults) {
    test(`${name}: a code leaves on the other carrier, a plain text does not`, async () => {
      await connect();
      const before = atSpare().length;
      provider.faults.push(...Array.from({ length: 9 }, () => fault));
      await verify();
      await spare.arrived('submit_sm', before + 1);
      assert.deepEqual(atSpare().slice(before), atProvider().slice(0, 1));
    });
  }

  test('502: a plain text is in doubt, and no other carrier gets it', async () => {
    await connect();
    const before = atSpare().length;
    provider.faults.push({ status: 502 }, { status: 502 });
    const { id } = await world.send();
    await eventually('it was tried', async () => (await attemptsOf(id)) === 1);
    await verify();
    await spare.arrived('submit_sm', before + 1);
    assert.deepEqual(atSpare().slice(before), atProvider().slice(1, 2), 'the code alone');
    assert.equal((await world.sender.readSms(id)).status, 'queued');
  });

  test('no connection: codes leave on the other carrier', async () => {
    await connect();
    const before = atSpare().length;
    await provider.close();
    for (let n = 1; n <= 3; n++) {
      await verify();
      await spare.arrived('submit_sm', before + n);
    }
    assert.equal(provider.requests.length, 0);
  });
});
