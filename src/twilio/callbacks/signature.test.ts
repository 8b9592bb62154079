import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signatureOf } from './signature.ts';

// The example of Twilio's documentation.
const url = 'https://example.com/myapp.php?foo=1&bar=2';
const parameters = {
  CallSid: 'CA1234567890ABCDE',
  Caller: '+14158675310',
  Digits: '1234',
  From: '+14158675310',
  To: '+18005551212',
};

test('the signature is the one that receivers compute, whatever the order of the parameters', () => {
  const signature = signatureOf('12345', url, parameters);
  assert.equal(signature, 'L/OH5YylLD5NRKLltdqwSvS0BnU=');
  assert.equal(signatureOf('12345', url, Object.fromEntries(Object.entries(parameters).reverse())), signature);
  assert.notEqual(signatureOf('12346', url, parameters), signature);
  assert.notEqual(signatureOf('12345', `${url}&a=b`, parameters), signature);
});
