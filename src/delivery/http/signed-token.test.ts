import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { describe, test } from 'node:test';
import { createTestClock } from '../../../test/support/clock.ts';
import { createSignedTokens, readRsaKey } from './signed-token.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

function create(key = pem) {
  const clock = createTestClock();
  const auth = {
    kind: 'jwt-rs256',
    name: 'application_id',
    value: '{{value:app}}',
    password: '{{secret:key}}',
  } as const;
  const description = { url: '{{base}}/', accepted: [{ status: [200] }], auth };
  const profile = { description, base: 'https://a.example', secrets: { key }, values: { app: 'app-1' } };
  return { clock, tokens: createSignedTokens(profile, clock) ?? assert.fail('it signs') };
}

async function tokenOf({ tokens }: ReturnType<typeof create>): Promise<string> {
  const got = await tokens.get();
  return 'token' in got ? got.token : assert.fail(got.reason);
}
const decoded = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>;

describe('a token of jwt-rs256', () => {
  test('is signed by the key, names the application, lives fifteen minutes, and is used for five', async () => {
    const made = create();
    const token = await tokenOf(made);
    const [head, claims, signature = ''] = token.split('.');
    assert.deepEqual(decoded(head), { alg: 'RS256', typ: 'JWT' });
    const { jti, ...rest } = decoded(claims);
    const iat = Math.floor(made.clock.nowMs() / 1000);
    assert.deepEqual(rest, { application_id: 'app-1', iat, exp: iat + 900 });
    assert.match(String(jti), /^[0-9a-f]{32}$/);
    const signed = Buffer.from(`${head}.${claims}`);
    assert.ok(verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url')));
    made.clock.advance(299_999);
    assert.equal(await tokenOf(made), token);
    made.clock.advance(1);
    assert.notEqual(await tokenOf(made), token);
  });

  test('is made anew when the provider has refused it', async () => {
    const made = create();
    const token = await tokenOf(made);
    made.tokens.forget();
    assert.notEqual(await tokenOf(made), token);
  });

  test('does not exist without a key that can be read: nothing is sent', async () => {
    const got = await create('no key').tokens.get();
    assert.deepEqual(got, { kind: 'not_sent', reason: 'The private key cannot be read.' });
  });
});

test('a key is read with its lines, without them, and with \\n for them', () => {
  const older = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  for (const text of [pem, older, pem.replaceAll('\n', ''), pem.replaceAll('\n', ' '), pem.replaceAll('\n', '\\n')])
    assert.ok(readRsaKey(text), text.slice(0, 40));
});

test('no key: another algorithm, too short, a public one, nonsense', () => {
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const curve = generateKeyPairSync('ed25519').privateKey;
  const wrong = [
    ...[short, curve].map((key) => key.export({ type: 'pkcs8', format: 'pem' }).toString()),
    publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    pem.replace('MII', 'AAA'),
    '-----BEGIN PRIVATE KEY----------END PRIVATE KEY-----',
    '',
  ];
  for (const text of wrong) assert.equal(readRsaKey(text), undefined, text.slice(0, 40));
});
