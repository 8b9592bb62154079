import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileOnce } from './compiled-schemas.ts';

function counting() {
  let compiled = 0;
  const compile = compileOnce((schema) => {
    compiled++;
    return { schema };
  });
  return { compile, count: () => compiled };
}

test('a schema is compiled once, and so are two that say the same', () => {
  const { compile, count } = counting();
  const schema = { type: 'object', properties: { to: { type: 'string' } } };
  const first = compile(schema);
  assert.equal(compile(schema), first);
  assert.equal(compile(structuredClone(schema)), first);
  assert.equal(count(), 1);
  assert.notEqual(compile({ ...schema, required: ['to'] }), first);
  assert.equal(count(), 2);
});

test('schemas that hold a function are apart, however deep it is', () => {
  const { compile, count } = counting();
  const withCheck = (check: () => unknown[]) => ({ anyOf: [{ type: 'object', check }] });
  const [one, other] = [withCheck(() => []), withCheck(() => ['a problem'])];
  assert.notEqual(compile(one), compile(other));
  assert.equal(compile(one), compile(one));
  assert.equal(count(), 2);
});
