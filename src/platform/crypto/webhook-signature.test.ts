import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders, spellSecret } from './webhook-signature.ts';

const nowSeconds = () => Math.floor(Date.now() / 1000);

test('an independent implementation verifies what we sign, with any of the secrets', () => {
  const secrets = fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(secrets, fc.json(), fc.stringMatching(/^evt_[0-9a-z]{26}$/), (keys, body, id) => {
      const own = keys.map((key) => Buffer.from(key));
      const headers = signatureHeaders(own, { id, timestampSeconds: nowSeconds(), body });
      for (const secret of own)
        assert.deepEqual(new Webhook(spellSecret(secret)).verify(body, headers), JSON.parse(body));
    }),
    { numRuns: 50 },
  );
});

test('it refuses another secret, another body, another id and an old time', () => {
  const secret = Buffer.alloc(32, 7);
  const call = { id: 'evt_1', timestampSeconds: nowSeconds(), body: '{"a":1}' };
  const receiver = new Webhook(spellSecret(secret));
  const headers = signatureHeaders([secret], call);
  receiver.verify(call.body, headers);
  assert.throws(() => receiver.verify('{"a":2}', headers));
  assert.throws(() => receiver.verify(call.body, { ...headers, 'webhook-id': 'evt_2' }));
  assert.throws(() => receiver.verify(call.body, signatureHeaders([Buffer.alloc(32, 8)], call)));
  const old = { ...call, timestampSeconds: call.timestampSeconds - 600 };
  assert.throws(() => receiver.verify(call.body, signatureHeaders([secret], old)));
});
