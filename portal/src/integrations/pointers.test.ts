import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pointersFrom } from './pointers.ts';

test('empty fields are no pointers', () => {
  const none = { to: '', code: ' ', text: '', locale: '', ip: '' };
  assert.equal(pointersFrom(none), null);
  assert.deepEqual(pointersFrom({ ...none, to: ' /phone ' }), { to: '/phone' });
});
