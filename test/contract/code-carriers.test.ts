// Carriers for calls and WhatsApp, as operators set them: by the file of docs/carriers.md, and by the portal's API.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { runIn } from '../support/commands.ts';
import type { TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { dumpAll, type Refusal } from '../support/texts.ts';

interface WrittenCarrier {
  name: string;
  kind: string;
  settings: Record<string, unknown>;
}
interface Carrier {
  name: string;
  settings: Record<string, unknown>;
  callbacks: { receipts: string } | null;
}

const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
const env = {
  TWILIO_TOKEN: 'twilio-token-Zq7',
  VONAGE_KEY: pem,
  VONAGE_SIGNATURE: 'vonage-signature-Zq7',
  INFOBIP_KEY: 'infobip-key-Zq7',
  META_TOKEN: 'meta-token-Zq7',
  META_APP_SECRET: 'meta-app-secret-Zq7',
  META_VERIFY_TOKEN: 'meta-verify-token-Zq7',
};
const secrets = [...Object.values(env).filter((value) => value !== pem), ...pem.split('\n').slice(2, 6)];

/** What an operator pastes, with what the guide leaves open. In the sandbox every address is on this machine. */
function written(): WrittenCarrier[] {
  const guide = readFileSync(new URL('../../docs/carriers.md', import.meta.url), 'utf8');
  const [, json = ''] = /### Calls and WhatsApp\n.*?```json\n(.*?)```/s.exec(guide) ?? [];
  const filled = json
    .replaceAll('HX…', `HX${'a'.repeat(32)}`)
    .replaceAll('AC…', `AC${'b'.repeat(32)}`)
    .replaceAll('aaaaaaaa-…', 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab');
  const { carriers } = JSON.parse(filled) as { carriers: WrittenCarrier[] };
  return carriers.map((one) => ({ ...one, settings: { ...one.settings, base: 'http://127.0.0.1:9' } }));
}

let app: TestApp;
let operator: TestDeveloper;
let folder: string;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  operator = await createOperator(app);
  folder = await mkdtemp(join(tmpdir(), 'heliograph-codes-'));
});
after(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

const path = '/portal/v1/operator/carriers';
async function command(...args: string[]): Promise<string> {
  const said: string[] = [];
  const last = await runIn({ env, say: (text) => void said.push(text) }, app, 'carriers', ...args);
  return [...said, last].join('\n');
}
async function apply(carriers: WrittenCarrier[]): Promise<string> {
  const file = join(folder, 'carriers.json');
  await writeFile(file, JSON.stringify({ carriers }));
  return command('apply', file);
}

describe('the file of the guide', () => {
  test('makes all six; again it changes nothing; what is exported names variables', async () => {
    const file = written();
    assert.equal(file.length, 6);
    assert.equal((await apply(file)).match(/: new/g)?.length, 6);
    assert.equal((await apply(file)).match(/: unchanged/g)?.length, 6);
    const exported = JSON.parse(await command('export')) as { carriers: WrittenCarrier[] };
    assert.equal(exported.carriers.length, 6);
    for (const { settings } of exported.carriers)
      for (const [field, value] of Object.entries(settings))
        if (['auth_token', 'private_key', 'access_token', 'app_secret', 'verify_token'].includes(field))
          assert.ok(typeof value === 'object', field);
  });

  test('no secret is shown or readable; the records have channels and the addresses of receipts', async () => {
    const { body } = await operator.send<{ data: Carrier[] }>('GET', path);
    const channels = new Map(body.data.map(({ name, settings }) => [name, settings.channels]));
    for (const name of ['calls', 'vonage-calls', 'infobip-calls'])
      assert.deepEqual(channels.get(name), ['voice'], name);
    for (const name of ['whatsapp', 'infobip-whatsapp', 'twilio-whatsapp'])
      assert.deepEqual(channels.get(name), ['whatsapp'], name);
    for (const { callbacks } of body.data) assert.match(callbacks?.receipts ?? '', /receipts\/[0-9a-f]{32}$/);
    const places = { answers: JSON.stringify(body), dump: await dumpAll(app), log: app.logLines.join('\n') };
    for (const [place, text] of Object.entries(places))
      for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} is in ${place}`);
  });
});

describe('by the API', () => {
  const settingsOf = (preset: string) => {
    const found = written().find(({ settings }) => settings.preset === preset) ?? assert.fail(preset);
    const given = Object.entries(found.settings).map(([field, value]) => {
      const { env: name } = (typeof value === 'object' ? value : {}) as { env?: keyof typeof env };
      return [field, name === undefined ? value : env[name]];
    });
    return Object.fromEntries(given) as Record<string, unknown>;
  };
  let made = 0;
  const create = (preset: string, changes: Record<string, unknown>) =>
    operator.send<Carrier & Refusal>('POST', path, {
      name: `made-${made++}`,
      kind: 'http',
      settings: { ...settingsOf(preset), ...changes },
    });

  test('201: a key as a page sends it, without its lines', async () => {
    const { status, body } = await create('vonage-voice', { private_key: pem.replaceAll('\n', '') });
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(body.settings.private_key_set, true);
    const patched = await operator.send<Carrier>('PATCH', `${path}/${body.name}`, {
      settings: { caller_id: '442071838751' },
    });
    assert.deepEqual([patched.status, patched.body.settings.private_key_set], [200, true]);
  });

  for (const [preset, changes, field] of [
    ['vonage-voice', { private_key: 'not a key' }, 'private_key'],
    ['vonage-voice', { private_key: 'x'.repeat(8193) }, 'private_key'],
    ['vonage-voice', { private_key: pem.replace('MII', 'AAA') }, 'private_key'],
    ['vonage-voice', { signature_secret: 'two\nlines' }, 'signature_secret'],
    ['twilio-voice', { caller_id: undefined }, 'caller_id'],
    ['twilio-voice', { channels: ['sms'] }, 'channels'],
    ['infobip-voice', { base: undefined }, 'base'],
    ['whatsapp-cloud', { template_languages: 'English' }, 'template_languages'],
    ['whatsapp-cloud', { template_languages: '' }, 'template_languages'],
    ['whatsapp-cloud', { verify_token: undefined }, 'verify_token'],
    ['infobip-whatsapp', { template_languages: 'en;de' }, 'template_languages'],
    ['twilio-whatsapp', { content_sids: 'HX1' }, 'content_sids'],
    ['twilio-whatsapp', { content_sids: `en=HX${'z'.repeat(32)}` }, 'content_sids'],
  ] as const) {
    test(`400: ${preset} with ${field} ${JSON.stringify(Object.values(changes)[0])?.slice(0, 40)}`, async () => {
      const { status, body } = await create(preset, changes);
      assert.equal(status, 400);
      assert.deepEqual(
        body.details.map((detail) => detail.field),
        [`settings.${field}`],
      );
    });
  }

  test('400: a description without English, or with a handshake whose secret it does not have', async () => {
    const described = (changes: object, receipt: object = {}) =>
      operator.send<Refusal>('POST', path, {
        name: 'described',
        kind: 'http',
        settings: {
          base: 'http://127.0.0.1:9',
          secrets: { key: 'k' },
          describe: {
            url: '{{base}}/x',
            form: { code: '{{code}}', event: ['a', 'b'] },
            accepted: [{ status: [200] }],
            receipt: { id: 'id', state: { path: 's', map: {} }, verify: { kind: 'token' }, ...receipt },
            ...changes,
          },
        },
      });
    const fieldsOf = ({ status, body }: { status: number; body: Refusal }) => [
      status,
      body.details?.map(({ field }) => field),
    ];
    assert.deepEqual(fieldsOf(await described({ languages: { de: 'de-DE' } })), [400, ['settings.describe.languages']]);
    const handshake = { query: 'q', secret: 'other', answer: 'a' };
    assert.deepEqual(fieldsOf(await described({}, { handshake })), [
      400,
      ['settings.describe.receipt.handshake.secret'],
    ]);
    const token = { kind: 'jwt-rs256', value: 'x' };
    assert.deepEqual(fieldsOf(await described({ auth: token })), [
      400,
      ['settings.describe.auth.name', 'settings.describe.auth.password'],
    ]);
    assert.equal((await described({ languages: { en: 'en-GB' } })).status, 201);
  });
});
