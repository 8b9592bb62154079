// "`jti` once on all nodes": one assertion at once on two nodes opens one token.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { SignJWT } from 'jose';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, sendForm, verifyScope } from '../support/applications.ts';
import { inShort } from '../support/effort.ts';

let here: TestApp;
let there: TestApp;
before(async () => {
  here = await createTestApp({ manyConnections: true, delivery: 'held' });
  there = await createTestApp({ delivery: 'held', db: here.db, clock: here.clock });
});
after(async () => {
  await there.close();
  await here.close();
});

test('an assertion sent to two nodes at once, several times: one answer is a token', async () => {
  const { developer, id, client } = await createRegistered(here, ['verify']);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const public_key = publicKey.export({ type: 'spki', format: 'pem' });
  const added = await developer.send('POST', `/portal/v1/applications/${id}/client-keys`, { public_key });
  assert.equal(added.status, 201);
  const now = Math.floor(here.clock.nowMs() / 1000);
  const aud = `${here.config.publicUrl}/realms/heliograph`;
  const { client_id } = client;
  for (let round = 0; round < inShort(20, 200); round++) {
    const claims = { iss: client_id, sub: client_id, aud, jti: `round-${round}`, exp: now + 60 };
    const client_assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    const form = { grant_type: 'client_credentials', scope: verifyScope, client_assertion_type, client_assertion };
    const answers = await Promise.all([here, there, here, there].map((app) => sendForm(app, 'token', form)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401]);
  }
});
