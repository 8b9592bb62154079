import assert from 'node:assert/strict';
import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ProofSettings } from './proof-settings.ts';
import { isProven } from './proofs.ts';
import type { CallbackRequest } from './request.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const written = (fields: Record<string, string>) => Buffer.from(new URLSearchParams(fields).toString());
const request = (changes: Partial<CallbackRequest>): CallbackRequest => ({
  method: 'POST',
  url: 'https://sms.example/carriers/v1/a/receipts/t',
  headers: {},
  body: Buffer.alloc(0),
  ...changes,
});
const check = (given: CallbackRequest, proof: ProofSettings, secret: string, atMs = nowMs) =>
  isProven(given, proof, { s: secret }, atMs);

describe('Twilio, by the examples of its documentation', () => {
  const proof: ProofSettings = { kind: 'twilio-sha1', secret: 's' };
  const fields = {
    CallSid: 'CA1234567890ABCDE',
    Caller: '+14158675309',
    Digits: '1234',
    From: '+14158675309',
    To: '+18005551212',
  };
  const right = request({
    url: 'https://mycompany.com/myapp.php?foo=1&bar=2',
    headers: { ...form, 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
    body: written(fields),
  });

  test('a form, whatever order its parameters have', () => {
    assert.equal(check(right, proof, '12345'), true);
    const turned = Object.fromEntries(Object.entries(fields).reverse());
    assert.equal(check({ ...right, body: written(turned) }, proof, '12345'), true);
  });
  test('the second example', () => {
    const other = { ...fields, Caller: '+14158675310', From: '+14158675310' };
    const headers = { ...form, 'x-twilio-signature': 'GvWf1cFY/Q7PnoempGyD5oXAezc=' };
    assert.equal(check({ ...right, headers, body: written(other) }, proof, '12345'), true);
  });
  test('with the port that the scheme implies, or without it', () => {
    const at = (url: string) => createHmac('sha1', '12345').update(url).digest('base64');
    for (const [ours, signed] of [
      ['https://a.example/x', 'https://a.example:443/x'],
      ['https://a.example:443/x', 'https://a.example/x'],
      ['http://a.example/x?y=1', 'http://a.example:80/x?y=1'],
    ] as const) {
      const given = request({ url: ours, method: 'GET', headers: { 'x-twilio-signature': at(signed) } });
      assert.equal(check(given, proof, '12345'), true, ours);
    }
    const foreign = request({
      url: 'https://a.example:8443/x',
      method: 'GET',
      headers: { 'x-twilio-signature': at('https://a.example/x') },
    });
    assert.equal(check(foreign, proof, '12345'), false);
  });
  test('JSON by its hash in the URL, and only then', () => {
    const body = Buffer.from('{"CallSid":"CA1234567890ABCDE"}');
    const url = `https://a.example/x?bodySHA256=${createHash('sha256').update(body).digest('hex')}`;
    const headers = {
      'content-type': 'application/json',
      'x-twilio-signature': createHmac('sha1', '12345').update(url).digest('base64'),
    };
    assert.equal(check(request({ url, headers, body }), proof, '12345'), true);
    assert.equal(check(request({ url, headers, body: Buffer.from('{"CallSid":"CA"}') }), proof, '12345'), false);
    const bare = 'https://a.example/x';
    const signed = { ...headers, 'x-twilio-signature': createHmac('sha1', '12345').update(bare).digest('base64') };
    assert.equal(
      check(request({ url: bare, headers: signed, body }), proof, '12345'),
      false,
      'no hash covers the body',
    );
  });
  test('any other secret, URL, parameter or signature is wrong', () => {
    assert.equal(check(right, proof, '12346'), false);
    assert.equal(check({ ...right, url: `${right.url}&x=1` }, proof, '12345'), false);
    assert.equal(check({ ...right, body: written({ ...fields, Digits: '1235' }) }, proof, '12345'), false);
    assert.equal(check({ ...right, headers: form }, proof, '12345'), false);
    assert.equal(isProven(right, proof, {}, nowMs), false, 'without its secret nothing is proven');
  });
});

describe('Vonage, by the examples of its libraries', () => {
  const atMs = 1_540_924_779_000;
  const fields = {
    api_key: 'fake_api_key',
    to: '14155550100',
    from: 'AcmeInc',
    text: 'Test From Nexmo',
    type: 'text',
    timestamp: '1540924779',
  };
  const secret = '71efab63122f1d179f51c46bac838fb5';
  for (const [algorithm, sig] of [
    ['md5', '51CDAFEBB4BBCE9525B195C1617CB8D2'],
    ['sha1', '0162AEC64BC183B2E1256545951FE5639DC98020'],
    ['sha256', '9FEC5EF6D0F2B3D2BB7558B6E4042569823CAB9EA0DD30503472B7B304601975'],
  ] as const) {
    test(`HMAC ${algorithm}: as a form, a query or JSON`, () => {
      const proof: ProofSettings = { kind: 'params-md5', secret: 's', algorithm };
      const all = { ...fields, sig };
      assert.equal(check(request({ headers: form, body: written(all) }), proof, secret, atMs), true);
      assert.equal(
        check(request({ method: 'GET', url: `https://a.example/?${new URLSearchParams(all)}` }), proof, secret, atMs),
        true,
      );
      const json = request({ headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(all)) });
      assert.equal(check(json, proof, secret, atMs), true);
      assert.equal(check(json, proof, secret, atMs + 301_000), false, 'too old');
      assert.equal(check(json, proof, secret, atMs - 301_000), false, 'from the future');
      const turned = { ...all, text: 'Test' };
      assert.equal(check(request({ headers: form, body: written(turned) }), proof, secret, atMs), false);
    });
  }
  test('a plain MD5, as accounts have it at first', () => {
    const proof: ProofSettings = { kind: 'params-md5', secret: 's', algorithm: 'hash-md5' };
    const all = { a: '1', b: '2', timestamp: '1461605396', sig: '6af838ef94998832dbfc29020b564830' };
    assert.equal(check(request({ headers: form, body: written(all) }), proof, 'secret', 1_461_605_396_000), true);
    assert.equal(
      check(request({ headers: form, body: written({ ...all, b: '3' }) }), proof, 'secret', 1_461_605_396_000),
      false,
    );
  });
  test('values cannot be moved from one parameter to another', () => {
    const proof: ProofSettings = { kind: 'params-md5', secret: 's', algorithm: 'sha256' };
    const time = String(nowMs / 1000);
    const sig = createHmac('sha256', 'x').update(`&a=1_b_2&timestamp=${time}`).digest('hex');
    assert.equal(
      check(request({ headers: form, body: written({ a: '1&b=2', timestamp: time, sig }) }), proof, 'x'),
      true,
    );
    assert.equal(
      check(request({ headers: form, body: written({ a: '1', b: '2', timestamp: time, sig }) }), proof, 'x'),
      false,
    );
  });
});

describe('Plivo', () => {
  test('version 2, by the examples of its library', () => {
    const proof: ProofSettings = { kind: 'plivo-v2', secret: 's' };
    const given = (url: string, nonce: string, signature: string) =>
      request({
        url,
        headers: { ...form, 'x-plivo-signature-v2': signature, 'x-plivo-signature-v2-nonce': nonce },
        body: written({ a: '1' }),
      });
    const signature = 'ehV3IKhLysWBxC1sy8INm0qGoQYdYsHwuoKjsX7FsXc=';
    assert.equal(check(given('https://answer.url', '12345', signature), proof, 'my_auth_token'), true);
    assert.equal(check(given('https://answer.url?m=1', '12345', signature), proof, 'my_auth_token'), true);
    assert.equal(check(given('https://answer.url:8000', '12345', signature), proof, 'my_auth_token'), false);
    const withPort = given(
      'https://answer.url:8000',
      '24725744043720739450',
      'LDphWoWimP4QM5AoWI1uwP6WmlWtt5ITPZjXIWYvCNU=',
    );
    assert.equal(check(withPort, proof, 'my_auth_token'), true);
    assert.equal(check(given('https://answer.url', '12345', signature), proof, 'my_auth_tokens'), false);
  });
  test('version 3: URL, sorted query, sorted form, nonce; one of several signatures', () => {
    const proof: ProofSettings = { kind: 'plivo-v3', secret: 's' };
    const hmac = (text: string) => createHmac('sha256', 'token').update(text).digest('base64');
    const given = (signed: string, changes: Partial<CallbackRequest> = {}) =>
      request({
        url: 'https://a.example/x?b=2&a=1',
        headers: { ...form, 'x-plivo-signature-v3': `AAAA, ${hmac(signed)}`, 'x-plivo-signature-v3-nonce': '77' },
        body: written({ To: '1', From: '2' }),
        ...changes,
      });
    assert.equal(check(given('https://a.example/x?a=1&b=2.From2To1.77'), proof, 'token'), true);
    assert.equal(check(given('https://a.example/x?From2To1.77', { url: 'https://a.example/x' }), proof, 'token'), true);
    assert.equal(check(given('https://a.example/x?a=1&b=2.77', { body: Buffer.alloc(0) }), proof, 'token'), true);
    assert.equal(check(given('https://a.example/x?a=1&b=2.From2To1.78'), proof, 'token'), false);
    const json = { 'content-type': 'application/json' };
    const signed = given('https://a.example/x?a=1&b=2.77');
    assert.equal(
      check({ ...signed, headers: { ...signed.headers, ...json } }, proof, 'token'),
      false,
      'an uncovered body',
    );
  });
});

describe('a time and a body under Ed25519', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
  const proof: ProofSettings = { kind: 'ed25519-ts', secret: 's', header: 'x-sig', timestamp: 'x-time' };
  const given = (time: string, body: string, signed = `${time}|${body}`) =>
    request({
      headers: { 'x-sig': sign(null, Buffer.from(signed), privateKey).toString('base64'), 'x-time': time },
      body: Buffer.from(body),
    });
  const time = String(nowMs / 1000);

  test('right, and fresh', () => assert.equal(check(given(time, '{}'), proof, key), true));
  test('too old, too new, no time at all', () => {
    for (const off of [-301, 301]) assert.equal(check(given(String(nowMs / 1000 + off), '{}'), proof, key), false);
    assert.equal(check(given('soon', '{}'), proof, key), false);
  });
  test('any other octet of the body is wrong', () => {
    const right = given(time, '{"state":"delivered"}');
    fc.assert(
      fc.property(fc.nat({ max: right.body.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, by) => {
        const body = Buffer.from(right.body);
        body[at] = (body[at] ?? 0) ^ by;
        assert.equal(check({ ...right, body }, proof, key), false);
      }),
    );
  });
  test('a key or a signature of another length is wrong, and nothing throws', () => {
    assert.equal(check(given(time, '{}'), proof, 'AAAA'), false);
    assert.equal(check(request({ headers: { 'x-sig': 'AA==', 'x-time': time } }), proof, key), false);
  });
});

describe('other proofs', () => {
  test('HMAC over what the description says', () => {
    const proof: ProofSettings = {
      kind: 'hmac',
      secret: 's',
      header: 'x-sig',
      timestamp: 'x-time',
      nonce: 'x-nonce',
      signed: '{{timestamp}}.{{nonce}}.{{url}}.{{body}}',
      encoding: 'hex',
    };
    const time = String(nowMs / 1000);
    const url = 'https://a.example/x';
    const sig = createHmac('sha256', 'k').update(`${time}.n.${url}.{}`).digest('hex');
    const headers = { 'x-sig': `sha256=${sig}`, 'x-time': time, 'x-nonce': 'n' };
    assert.equal(check(request({ url, headers, body: Buffer.from('{}') }), proof, 'k'), true);
    assert.equal(check(request({ url, headers, body: Buffer.from('{ }') }), proof, 'k'), false);
    assert.equal(
      check(request({ url, headers: { ...headers, 'x-nonce': undefined }, body: Buffer.from('{}') }), proof, 'k'),
      false,
    );
    assert.equal(check(request({ url, headers, body: Buffer.from('{}') }), proof, 'k', nowMs + 301_000), false);
  });
  test('Basic', () => {
    const proof: ProofSettings = { kind: 'basic', secret: 's', user: 'me' };
    const authorization = `Basic ${Buffer.from('me:pass').toString('base64')}`;
    assert.equal(check(request({ headers: { authorization } }), proof, 'pass'), true);
    assert.equal(check(request({ headers: { authorization } }), proof, 'pas'), false);
    assert.equal(check(request({}), proof, 'pass'), false);
  });
  test('a JWT: signature, algorithm, time, hash of the body', () => {
    const proof: ProofSettings = { kind: 'jwt-hs256', secret: 's' };
    const body = Buffer.from('{}');
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = (claims: object, alg = 'HS256', key = 'k') => {
      const text = `${encode({ alg, typ: 'JWT' })}.${encode(claims)}`;
      return { authorization: `Bearer ${text}.${createHmac('sha256', key).update(text).digest('base64url')}` };
    };
    const claims = { iat: nowMs / 1000, payload_hash: createHash('sha256').update(body).digest('hex') };
    assert.equal(check(request({ headers: token(claims), body }), proof, 'k'), true);
    const wrong = [
      token({ ...claims, iat: nowMs / 1000 - 301 }),
      token({ ...claims, payload_hash: 'ab' }),
      token({ iat: claims.iat }),
      token({ payload_hash: claims.payload_hash }),
      token(claims, 'none'),
      token(claims, 'HS256', 'other'),
      { authorization: 'Bearer a.b' },
      {},
    ];
    assert.deepEqual(
      wrong.filter((headers) => check(request({ headers, body }), proof, 'k')),
      [],
    );
  });
});
