import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPointer, valueAt } from '../../../../src/hooks/pointer.ts';
import { samplePayload } from './payload.ts';

test('a payload has what its pointers promise', () => {
  const pointers = { to: '/user/phone', code: '/user/otp', text: '/a~1b/m~0n', ip: '/meta/client/ip' };
  const payload = samplePayload(pointers);
  assert.deepEqual(payload, {
    user: { phone: '+15005550100', otp: '482910' },
    'a/b': { 'm~n': '482910 is your code.' },
    meta: { client: { ip: '203.0.113.7' } },
  });
  for (const pointer of Object.values(pointers))
    assert.equal(typeof valueAt(payload, readPointer(pointer)), 'string', pointer);
});

test('pointers that are half typed, or that cross, make a payload all the same', () => {
  assert.deepEqual(samplePayload({ to: 'phone', code: '' }), {});
  assert.deepEqual(samplePayload({ to: '/a', code: '/a/b' }), { a: { b: '482910' } });
});
