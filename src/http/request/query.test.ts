import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { createQueryReader } from './query.ts';

const read = createQueryReader(
  Type.Object({
    limit: Type.Integer(),
    to: Type.Optional(Type.String()),
    all: Type.Optional(Type.Boolean()),
  }),
);

test('numbers and booleans are read; texts stay texts', () => {
  assert.deepEqual(
    { ...read('/a?limit=7&to=7&all=true&more=1#end').value },
    { limit: 7, to: '7', all: true, more: '1' },
  );
  assert.deepEqual(read('/a').value, {});
});

test('what is not written in plain digits stays text, which the schema refuses', () => {
  const wrong = [
    '',
    'x',
    '1.5',
    '5.0',
    '-1',
    '%2B5',
    '%205',
    '5%20',
    '0x10',
    '1e2',
    '1e400',
    'Infinity',
    'NaN',
    '05',
    '٣',
  ];
  for (const limit of [...wrong, '9'.repeat(16), '9'.repeat(1000)]) {
    const { value, problems } = read(`/a?limit=${limit}`);
    assert.equal(typeof value.limit, 'string', limit);
    assert.deepEqual(problems, []);
  }
  assert.equal(read('/a?all=yes').value.all, 'yes');
});

test('what is sent twice, and NUL, is named', () => {
  assert.deepEqual(read('/a?limit=1&limit=1&to=a%00').problems, [
    { field: 'limit', message: 'must be given once' },
    { field: 'to', message: 'must not contain a NUL character' },
  ]);
  assert.deepEqual(read('/a?other=1&other=2&__proto__=%00').problems, []);
});

test('more parameters than any route has are refused', () => {
  assert.deepEqual(read(`/a?${'x&'.repeat(50)}`).problems, []);
  assert.throws(() => read(`/a?${'x&'.repeat(51)}`), { message: 'The query has more than 50 parameters.' });
  assert.throws(() => read(`/a?${Array.from({ length: 5000 }, (_, i) => `${i}`).join('&')}`), { status: 400 });
});
