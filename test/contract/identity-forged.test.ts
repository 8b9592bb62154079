// run: on web processes
// Tokens that look like ours and are not: every one is a 401, none a 500, and none reaches the service.
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomBytes, sign as signBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { decodeJwt, decodeProtectedHeader, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { createTokenChecksums } from '../../src/identity/token-checksum.ts';
import { sayRaw } from '../socket/raw-connection.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createEchoRoutes, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { send } from '../support/developer.ts';

const { routes, calls } = createEchoRoutes();
const path = '/verify/v1/echo';

let app: TestApp;
let acme: TestApplication;
let token: string;
let claims: JWTPayload;
let header: JWTHeaderParameters;
let ourKey: KeyObject;
let ourPublicPem: string;
before(async () => {
  app = await createTestApp({ extraRoutes: routes });
  acme = await createRegistered(app, ['verify', 'messaging', 'sms'], 'enterprise');
  token = await getToken(app, acme.client, 'verify:manage');
  claims = decodeJwt(token);
  header = decodeProtectedHeader(token) as JWTHeaderParameters;
  const [key] = await app.app.signingKeys.load();
  assert.ok(key);
  ourKey = key.privateKey;
  ourPublicPem = key.publicKey.export({ format: 'pem', type: 'spki' }).toString();
});
after(() => app.close());

/** With the right checksum, so that it is refused for what is wrong with it. */
const sign = (payload: JWTPayload, head: JWTHeaderParameters = header, key: KeyObject | Uint8Array = ourKey) =>
  signAsIs({ ...payload, chk: createTokenChecksums(app.keys).of(payload) }, head, key);
const signAsIs = (payload: JWTPayload, head: JWTHeaderParameters = header, key: KeyObject | Uint8Array = ourKey) =>
  new SignJWT(payload).setProtectedHeader(head).sign(key);
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = () => Math.floor(app.clock.nowMs() / 1000);

async function assertRefused(forged: string, what: string): Promise<void> {
  const before = calls.length;
  const answer = await send(app, 'GET', path, { headers: bearer(forged) });
  assert.equal(answer.status, 401, what);
  assert.match(
    answer.headers.get('www-authenticate') ?? '',
    /^Bearer realm="heliograph", error="invalid_token"$/,
    what,
  );
  assert.equal(answer.body.code, 'UNAUTHENTICATED');
  assert.equal(calls.length, before);
}

test('the control: what is signed here with our key as we sign it is accepted', async () => {
  const own = await sign({ ...claims, jti: 'control' });
  assert.equal((await send(app, 'GET', path, { headers: bearer(own) })).status, 200);
});

describe('401: the checksum', () => {
  test('missing, of another kind, or of another token', async () => {
    const { chk, ...rest }: JWTPayload = { ...claims, jti: 'unchecked' };
    assert.equal(typeof chk, 'string');
    for (const wrong of [rest, { ...rest, chk: 1 }, { ...rest, chk: '' }, { ...rest, chk }]) {
      await assertRefused(await signAsIs(wrong), JSON.stringify(wrong));
    }
  });

  test('what it covers cannot be changed', async () => {
    const changes = { jti: 'x', client_id: 'x', rid: 'x', cv: 9, scope: 'openid messaging:send', exp_ms: 9e15 };
    const checksums = createTokenChecksums(app.keys);
    for (const [name, value] of Object.entries(changes)) {
      assert.equal(checksums.isRight({ ...claims, [name]: value }), false, name);
    }
    assert.equal(checksums.isRight(claims), true);
  });
});

describe('401: the signature', () => {
  test('the id of a token that is known, under another signature, were it our own', async () => {
    const first = await sign({ ...claims, jti: 'signed twice' });
    const second = await sign({ ...claims, jti: 'signed twice' });
    assert.notEqual(first, second);
    assert.equal((await send(app, 'GET', path, { headers: bearer(first) })).status, 200);
    await assertRefused(second, 'a token is signed once');
    assert.equal((await send(app, 'GET', path, { headers: bearer(first) })).status, 200);
  });

  test('alg none, with and without a signature, in any case', async () => {
    for (const alg of ['none', 'None', 'NONE', '']) {
      const head = encode({ ...header, alg });
      await assertRefused(`${head}.${encode(claims)}.`, alg);
      await assertRefused(`${head}.${encode(claims)}.${token.split('.')[2]}`, alg);
      await assertRefused(`${head}.${encode(claims)}.AAAA`, alg);
    }
  });

  test('HS256 with the public key as the secret, in every way it can be written', async () => {
    const jwk = JSON.stringify((await app.app.signingKeys.load())[0]?.publicJwk);
    for (const secret of [ourPublicPem, ourPublicPem.trim(), jwk, String(header.kid)]) {
      await assertRefused(await sign(claims, { ...header, alg: 'HS256' }, Buffer.from(secret)), 'HS256');
    }
  });

  test('a foreign key, under our kid, its own, none, and carried along', async () => {
    const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = foreign.publicKey.export({ format: 'jwk' });
    const { kid: _, ...withoutKid } = header;
    for (const head of [
      header,
      { ...header, kid: 'theirs' },
      withoutKid,
      { ...withoutKid, jwk },
      { ...header, jwk },
      { ...header, jku: 'https://evil.example/keys' },
      { ...header, x5u: 'https://evil.example/cert' },
    ]) {
      await assertRefused(await sign(claims, head as JWTHeaderParameters, foreign.privateKey), JSON.stringify(head));
    }
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await assertRefused(await sign(claims, { ...header, alg: 'RS256' }, rsa.privateKey), 'RS256');
    const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    await assertRefused(await sign(claims, { ...header, alg: 'ES384' }, p384.privateKey), 'ES384');
  });

  test('a kid that is no text, a path, a statement or a name every object has', async () => {
    const [, body, signature] = token.split('.');
    for (const kid of [1, null, {}, [], ['x'], '../../etc/passwd', "' or 1=1 --", '__proto__', 'constructor', '']) {
      await assertRefused(`${encode({ ...header, kid })}.${body}.${signature}`, String(kid));
    }
  });

  test('altered: any character of any part', async () => {
    for (let i = 0; i < token.length; i += 7) {
      const character = token[i] === 'A' ? 'B' : 'A';
      if (token[i] !== '.') await assertRefused(token.slice(0, i) + character + token.slice(i + 1), `at ${i}`);
    }
    const last = token.at(-1) ?? '';
    for (const other of 'AQgwBRhxCSiyDTjz') {
      if (other !== last) await assertRefused(token.slice(0, -1) + other, `ends with ${other}`);
    }
  });

  test('a signature of another length, of zeros, in DER, or none', async () => {
    const [head, body, signature = ''] = token.split('.');
    const der = Buffer.concat([
      Buffer.from([0x30, 0x44, 2, 32]),
      randomBytes(32),
      Buffer.from([2, 32]),
      randomBytes(32),
    ]);
    for (const bytes of [Buffer.alloc(64), Buffer.alloc(63), Buffer.alloc(65), Buffer.alloc(1), der, randomBytes(64)]) {
      await assertRefused(`${head}.${body}.${bytes.toString('base64url')}`, `${bytes.length} bytes`);
    }
    for (const text of ['', signature.repeat(2), `${signature}A`, `${signature}==`, `${signature}.`]) {
      await assertRefused(`${head}.${body}.${text}`, text);
    }
  });

  test('more or fewer parts than three', async () => {
    const parts = token.split('.');
    for (const text of [
      parts[0],
      parts.slice(0, 2).join('.'),
      `${token}.x`,
      `${token}..x`,
      `.${token}`,
      '..',
      '.',
      '...',
    ]) {
      await assertRefused(text ?? '', text ?? '');
    }
  });

  test('parts that are not JSON, or not an object', async () => {
    for (const part of ['null', '[]', '1', '"x"', '{', '\0', '{"alg":', '['.repeat(1500)]) {
      const text = Buffer.from(part).toString('base64url');
      await assertRefused(`${text}.${text}.AAAA`, part.slice(0, 20));
      await assertRefused(`${token.split('.')[0]}.${text}.AAAA`, part.slice(0, 20));
    }
  });

  test('oversized: 4,097 characters, and 15,000', async () => {
    for (const length of [4097, 15_000]) {
      await assertRefused(token + 'A'.repeat(length - token.length), String(length));
    }
  });

  test('a crit header, known to us or not', async () => {
    for (const crit of [['b64'], ['exp'], ['urn:x'], [], 'exp']) {
      const head = { ...header, crit, exp: now() + 60, b64: true };
      const signed = `${encode(head)}.${encode(claims)}`;
      await assertRefused(`${signed}.${ourSignature(signed)}`, JSON.stringify(crit));
    }
  });
});

describe('401: signed by us, and not an access token of ours', () => {
  test('another JWS of ours: typ JWT, none, or one for proofs', async () => {
    const { typ: _, ...withoutType } = header;
    for (const head of [
      { ...header, typ: 'JWT' },
      withoutType,
      { ...header, typ: 'proof+jwt' },
      { ...header, typ: 'AT+JWT' },
    ]) {
      await assertRefused(await sign(claims, head as JWTHeaderParameters), JSON.stringify(head));
    }
  });

  test('a proof of ours, as the Verification API gives it', async () => {
    const body = { to: '+15005550100', channel: 'sms' };
    const headers = bearer(token);
    const { id } = (await send(app, 'POST', '/verify/v1/verifications', { body, headers })).body;
    const checked = await send(app, 'POST', `/verify/v1/verifications/${id}`, { body: { code: '123456' }, headers });
    const proof = String(checked.body.proof);
    assert.equal(decodeProtectedHeader(proof).kid, header.kid);
    await assertRefused(proof, 'the proof');
    await assertRefused(await sign(decodeJwt(proof)), 'what it says, signed as an access token');
    await assertRefused(await sign(claims, { ...header, typ: decodeProtectedHeader(proof).typ ?? '' }), 'the reverse');
  });

  test('a foreign issuer, also one that differs by a slash or a letter', async () => {
    for (const iss of [
      'https://evil.example',
      `${claims.iss}/`,
      `${claims.iss}x`,
      'HTTP://127.0.0.1:8080/realms/heliograph',
      '',
      null,
      [claims.iss],
    ]) {
      await assertRefused(await sign({ ...claims, iss } as JWTPayload), String(iss));
    }
  });

  test('an aud that is none of our APIs', async () => {
    for (const aud of ['account', acme.id, 'urn:heliograph:sms', '', null, [], [claims.aud], {}]) {
      await assertRefused(await sign({ ...claims, aud } as JWTPayload), JSON.stringify(aud));
    }
  });

  test('expired, to the millisecond; not yet valid; times that are none', async () => {
    const exp_ms = app.clock.nowMs();
    await assertRefused(await sign({ ...claims, jti: 'a', exp_ms }), 'expired now');
    await assertRefused(await sign({ ...claims, jti: 'b', exp: now() - 1 }), 'exp in the past');
    await assertRefused(await sign({ ...claims, jti: 'c', nbf: now() + 60 }), 'nbf in the future');
    await assertRefused(await sign({ ...claims, jti: 'd', iat: now() + 60 }), 'iat in the future');
    for (const name of ['exp', 'iat', 'nbf', 'exp_ms']) {
      for (const value of ['2999-01-01', null, {}, String(now() + 60)]) {
        await assertRefused(await sign({ ...claims, [name]: value } as JWTPayload), `${name} ${value}`);
      }
    }
  });

  test('without a claim that every token of ours has', async () => {
    for (const name of ['iss', 'aud', 'sub', 'client_id', 'scope', 'iat', 'exp', 'jti', 'cv', 'rid', 'exp_ms']) {
      const { [name]: _, ...rest } = claims;
      await assertRefused(await sign(rest), `without ${name}`);
    }
  });

  test("another client's, an unknown client's, or of another version of the client's credential", async () => {
    const other = await createRegistered(app, ['verify']);
    const { client_id } = other.client;
    await assertRefused(await sign({ ...claims, client_id }), 'sub and client_id differ');
    await assertRefused(await sign({ ...claims, client_id, sub: client_id }), "another client's registration");
    await assertRefused(await sign({ ...claims, client_id: 'cli_x', sub: 'cli_x' }), 'unknown');
    for (const cv of [0, 2, 1.5, '1', null]) {
      await assertRefused(await sign({ ...claims, cv } as JWTPayload), `version ${cv}`);
    }
  });
});

describe('401: how it was sent', () => {
  const request = (lines: string[]) =>
    sayRaw(app.port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n`);

  test('twice, be it the same token', async () => {
    for (const lines of [
      [`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`],
      [`Authorization: Bearer ${token}`, 'authorization: Bearer x'],
      ['Authorization: Basic eDp4', `Authorization: Bearer ${token}`],
    ]) {
      const [answer] = await request(lines);
      assert.equal(answer?.status, 401);
      assert.match(answer?.body ?? '', /sent twice/);
    }
  });

  test('in another scheme there is no token, so there is no error code (RFC 6750, section 3.1)', async () => {
    for (const value of ['Basic eDp4', 'Digest x', token, `Token ${token}`, `Bearer${token}`]) {
      const [answer] = await request([`Authorization: ${value}`]);
      assert.equal(answer?.status, 401);
      assert.equal(answer?.headers['www-authenticate'], 'Bearer realm="heliograph"', value.slice(0, 12));
    }
    for (const value of ['Bearer', 'Bearer a b', `Bearer "${token}"`, `Bearer ${token},${token}`]) {
      const [answer] = await request([`Authorization: ${value}`]);
      assert.equal(
        answer?.headers['www-authenticate'],
        'Bearer realm="heliograph", error="invalid_token"',
        value.slice(0, 12),
      );
    }
  });

  test('the scheme may be written in any case, with spaces around the token', async () => {
    for (const value of [`bearer ${token}`, `BEARER ${token}`, `Bearer   ${token}  `]) {
      const [answer] = await request([`Authorization: ${value}`]);
      assert.equal(answer?.status, 200, value.slice(0, 9));
    }
  });
});

test('403, not 401: our valid token for another of our APIs, with the scope that is wanted', async () => {
  const messaging = await getToken(app, acme.client, 'messaging:send');
  const answer = await send(app, 'GET', path, { headers: bearer(messaging) });
  assert.equal(answer.status, 403);
  assert.equal(
    answer.headers.get('www-authenticate'),
    'Bearer realm="heliograph", error="insufficient_scope", scope="verify:manage"',
  );
});

test('none of all this was logged as an error of ours', () => {
  const levels = new Set(app.logLines.map((line) => (JSON.parse(line) as { level: string }).level));
  assert.ok(levels.has('info'));
  assert.ok(!levels.has('error'));
});

function ourSignature(signed: string): string {
  return signBytes('sha256', Buffer.from(signed), { key: ourKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
}
