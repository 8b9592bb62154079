import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readForm, readJson } from './body.ts';

const read = (json: string, byItem: string[] = []) => readJson(Buffer.from(json), new Set(byItem));

test('a body is at most 16 levels deep, in known and unknown properties', () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
  assert.deepEqual(read(nested(16)).problems, []);
  const refusal = { status: 400, message: 'body must be nested at most 16 levels deep' };
  for (const depth of [17, 1000, 30_000]) assert.throws(() => read(nested(depth)), refusal);
});

test('an object has at most 100 properties, a body at most 5,000 values', () => {
  const properties = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, 1])));
  assert.deepEqual(read(properties(100)).problems, []);
  assert.throws(() => read(properties(101)), { message: 'body must have at most 100 properties in each object' });
  assert.deepEqual(read(JSON.stringify({ a: Array(4999).fill(0) })).problems, []);
  assert.throws(() => read(JSON.stringify({ a: Array(5000).fill(0) })), {
    message: 'body must have at most 5000 values in all',
  });
});

test('NUL and half a surrogate pair are named wherever they stand, in names too', () => {
  const { problems } = read(
    '{"a":"x\\u0000","b":{"c":["ok","\\ud800"]},"d":"\\ud83d\\ude00","\\udfff":1,"e":"\\\\u0000","x\\u0000y":{"z":"\\u0000"}}',
  );
  assert.deepEqual(problems, [
    { field: 'a', message: 'must not contain a NUL character' },
    { field: 'b.c.1', message: 'must not contain an unpaired surrogate' },
    { field: '\ufffd', message: 'must have a name without an unpaired surrogate' },
    { field: 'x\ufffdy', message: 'must have a name without a NUL character' },
    { field: 'x\ufffdy.z', message: 'must not contain a NUL character' },
  ]);
  assert.deepEqual(read('"\\u0000"').problems, [{ field: 'body', message: 'must not contain a NUL character' }]);
});

test('the report on a body full of them is short', () => {
  const names = Array.from({ length: 80 }, (_, index) => `"${index}${'n'.repeat(500)}\\u0000":"\\u0000"`);
  const { problems } = read(`{${names.join()}}`);
  assert.ok(problems.length <= 101);
  assert.ok(problems.every(({ field }) => field.length <= 64));
});

test('the items of a list that are refused one by one are left to it', () => {
  const body = '{"items":[{"a":"\\u0000"}],"b":"\\u0000","c":{"items":"\\u0000"}}';
  assert.deepEqual(
    read(body, ['items']).problems.map(({ field }) => field),
    ['b', 'c.items'],
  );
});

test('a form is UTF-8, in bytes and percent-encoded', () => {
  assert.equal(readForm(Buffer.from('a=caf%C3%A9+%F0%9F%91%8B&b=100%&c=%EF%BF%BD')).get('a'), 'café 👋');
  for (const wrong of ['a=caf%E9', 'a=x%ED%A0%80y', '%ff=1', 'a=%C3&b=%A9'])
    assert.throws(() => readForm(Buffer.from(wrong)), { status: 400 }, wrong);
  assert.doesNotThrow(() => readForm(Buffer.from('client_secret=%E9'), false));
  assert.throws(() => readForm(Buffer.from([0x61, 0x3d, 0xe9])), { status: 400 });
});

test('a form has at most 50 parameters', () => {
  assert.equal(readForm(Buffer.from(`${'a=1&'.repeat(49)}a=1`)).size, 50);
  assert.throws(() => readForm(Buffer.from('a&'.repeat(30_000))), { status: 400 });
});
