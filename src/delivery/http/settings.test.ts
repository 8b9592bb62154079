import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isOtherHttpAccount, joinHttpSecrets, keepHttpSecrets, splitHttpSecrets } from './secrets.ts';
import { checkHttpSettings, type HttpSettings } from './settings.ts';

const fieldsOf = (given: unknown) => checkHttpSettings(given).problems.map(({ field }) => field);
const twilio = { preset: 'twilio', account_sid: 'AC1', auth_token: 'token-Zq7' };
const minimal = { url: '{{base}}/x', json: { to: '{{to}}' }, accepted: [{ status: [200] }] };
const described = (changes: object, more: object = {}) => ({
  base: 'https://a.example',
  describe: { ...minimal, ...changes },
  ...more,
});

describe('presets', () => {
  test('defaults are filled in', () => {
    const { settings, problems } = checkHttpSettings(twilio);
    assert.deepEqual(problems, []);
    const { concurrency, timeout_ms, per_second, allow_private, receipts, opt_out_replies } = settings;
    assert.deepEqual(
      [concurrency, timeout_ms, per_second, allow_private, receipts, opt_out_replies],
      [20, 10_000, null, false, 'all', 'own'],
    );
  });
  for (const [what, given, fields] of [
    ['neither preset nor describe', {}, ['settings.preset']],
    ['both', { ...twilio, describe: minimal }, ['settings.preset']],
    ['an unknown preset', { preset: 'acme' }, ['settings.preset']],
    ['no object', 5, ['settings']],
    ['a missing credential', { preset: 'twilio', account_sid: 'AC1' }, ['settings.auth_token']],
    ['a setting of another preset', { ...twilio, api_secret: 'x' }, ['settings.api_secret']],
    ['half an API key', { ...twilio, api_key_sid: 'SK1' }, ['settings.api_key_secret']],
    ['a secret that no header can carry', { ...twilio, auth_token: 'a\nb' }, ['settings.auth_token']],
    ['no base where each account has its own', { preset: 'infobip', api_key: 'k' }, ['settings.base']],
    ['a base with a query', { ...twilio, base: 'https://a.example/?x=1' }, ['settings.base']],
    ['a base with a user', { ...twilio, base: 'https://me:pass@a.example' }, ['settings.base']],
    ['a public key that is none', { preset: 'telnyx', api_key: 'k', public_key: 'AAAA' }, ['settings.public_key']],
    [
      'bounds',
      { ...twilio, concurrency: 0, timeout_ms: 99, per_second: 0 },
      ['settings.per_second', 'settings.concurrency', 'settings.timeout_ms'],
    ],
  ] as const) {
    test(`400: ${what}`, () => assert.deepEqual(fieldsOf(given), [...fields]));
  }
});

describe('descriptions', () => {
  test('a small one is right', () => assert.deepEqual(fieldsOf(described({})), []));
  for (const [what, changes, fields] of [
    ['a host that a text chooses', { url: 'https://{{to}}/x' }, ['settings.describe.url']],
    ['a host that goes on in a text', { url: 'https://a.example{{to}}/x' }, ['settings.describe.url']],
    ['a base that goes on in a text', { url: '{{base}}{{to}}/x' }, ['settings.describe.url']],
    ['a base that goes on as it is', { url: '{{base}}.example.org/x' }, ['settings.describe.url']],
    ['another scheme', { url: 'file:///etc/passwd' }, ['settings.describe.url']],
    ['a placeholder that is not known', { json: { a: '{{password}}' } }, ['settings.describe.json.a']],
    ['a secret that is not given', { json: { a: '{{secret:key}}' } }, ['settings.describe.json.a']],
    ['a filter that is not known', { json: { a: '{{to|eval}}' } }, ['settings.describe.json.a']],
    ['a placeholder that does not end', { json: { a: '{{to' } }, ['settings.describe.json.a']],
    ['two bodies', { form: { a: '1' } }, ['settings.describe.form']],
    ['a GET with a body', { method: 'GET' }, ['settings.describe.method']],
    [
      'a header that changes the request',
      { headers: { 'Transfer-Encoding': 'chunked' } },
      ['settings.describe.headers.Transfer-Encoding'],
    ],
    ['a header with a line break', { headers: { A: 'a\r\nB: c' } }, ['settings.describe.headers.A']],
    ['nothing that is accepted', { accepted: [] }, ['settings.describe.accepted']],
    ['a rule that fits everything', { accepted: [{}] }, ['settings.describe.accepted.0']],
    ['a path that is none', { id: 'a b' }, ['settings.describe.id']],
    [
      'a class that is not known',
      { errors: [{ status: [400], class: 'maybe' }] },
      ['settings.describe.errors.0.class'],
    ],
    ['auth without its parts', { auth: { kind: 'basic', user: 'me' } }, ['settings.describe.auth.password']],
    ['a field that is not known', { urls: [] }, ['settings.describe.urls']],
    [
      'a proof without its secret',
      { receipt: { id: 'a', state: { path: 's', map: {} }, verify: { kind: 'twilio-sha1' } } },
      ['settings.describe.receipt.verify.secret'],
    ],
    [
      'a proof that leaves open what a text from a phone says',
      { inbound: { from: 'a', to: 'b', text: 'c', verify: { kind: 'plivo-v2' } } },
      ['settings.describe.inbound.verify.secret', 'settings.describe.inbound.verify.kind'],
    ],
    [
      'a state that is not known',
      { receipt: { id: 'a', state: { path: 's', map: { x: 'gone' } }, verify: { kind: 'token' } } },
      ['settings.describe.receipt.state.map.x'],
    ],
    ['more than 16 KiB', { json: { a: 'x'.repeat(17_000) } }, ['settings.describe']],
  ] as const) {
    test(`400: ${what}`, () => assert.deepEqual(fieldsOf(described(changes)), [...fields]));
  }
});

describe('secrets', () => {
  const read = (given: unknown) => checkHttpSettings(given).settings;
  test('are taken out, shown as set, and put back', () => {
    for (const given of [read(twilio), read(described({}, { secrets: { key: 'k-Zq7' } }))]) {
      const { settings, secrets } = splitHttpSecrets(given);
      assert.equal(JSON.stringify(settings).includes('Zq7'), false);
      assert.deepEqual(joinHttpSecrets(settings, secrets), given);
    }
    assert.deepEqual(splitHttpSecrets(read(twilio)).settings.auth_token_set, true);
    assert.deepEqual(splitHttpSecrets(read(described({}, { secrets: { key: 'k' } }))).settings.secrets_set, ['key']);
  });
  test('settings as a read shows them may be sent back', () => {
    const shown = splitHttpSecrets(read(twilio)).settings;
    assert.deepEqual(fieldsOf({ ...shown, auth_token: 'new' }), []);
  });
  test('stay unless they are named, and go with null', () => {
    const before = read(twilio);
    const { auth_token: _, ...without } = twilio;
    assert.equal((keepHttpSecrets(without, before) as HttpSettings).auth_token, 'token-Zq7');
    assert.equal('auth_token' in (keepHttpSecrets({ ...without, auth_token: null }, before) as object), false);
    const own = read(described({}, { secrets: { a: '1', b: '2' } }));
    assert.deepEqual((keepHttpSecrets(described({}, { secrets: { b: '3' } }), own) as HttpSettings).secrets, {
      a: '1',
      b: '3',
    });
  });
  test('a new token is the same account; another SID, base or provider is not', () => {
    const before = read(twilio);
    assert.equal(isOtherHttpAccount(before, read({ ...twilio, auth_token: 'x' })), false);
    assert.equal(isOtherHttpAccount(before, read({ ...twilio, account_sid: 'AC2' })), true);
    assert.equal(isOtherHttpAccount(before, read({ ...twilio, base: 'https://b.example' })), true);
    assert.equal(isOtherHttpAccount(before, read({ preset: 'plivo', auth_id: 'a', auth_token: 'b' })), true);
  });
});
