// A failed test says where: in the sources, although compiled files run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSourcePlaces } from '../../scripts/source-places.ts';
import { uuidOf } from '../../src/platform/ids.ts';

const compiled = `${process.env.HELIOGRAPH_TEST_FOLDER}/compiled`;
const toSourcePlaces = createSourcePlaces(compiled, process.cwd());

function stackOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return (error as Error).stack ?? '';
  }
  return assert.fail('it does not throw');
}

test('the places of an error in the service and in a test are those of the sources', () => {
  const stack = stackOf(() => uuidOf(undefined as unknown as string));
  assert.match(stack, /\/compiled\/service\.js:\d+:\d+/, 'as the process prints it');
  const [, inner = '', outer = '', own = ''] = toSourcePlaces(stack).split('\n');
  assert.match(inner, /spell \(src\/platform\/ids\.ts:\d+:\d+\)$/);
  assert.match(outer, /uuidOf \(src\/platform\/ids\.ts:\d+:\d+\)$/);
  assert.match(own, /test\/parts\/source-places\.test\.ts:20:\d+/);
});

test('a place without a map stays as it is', () => {
  for (const text of [`at ${compiled}/gone.js:1:1`, 'at node:fs:1:1']) assert.equal(toSourcePlaces(text), text);
});
