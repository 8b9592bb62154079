import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trimEnd } from './trim-end.ts';

test('what matches is taken from the end, by whole characters, and from nowhere else', () => {
  assert.equal(trimEnd('https://a//b///', /\//), 'https://a//b');
  assert.equal(trimEnd('  . a .\u{10100}  ', /[\s\p{P}]/u), '  . a');
  assert.equal(trimEnd('a😀', /[\s\p{P}]/u), 'a😀');
  assert.equal(trimEnd('...', /\./), '');
  assert.equal(trimEnd('', /./), '');
});
