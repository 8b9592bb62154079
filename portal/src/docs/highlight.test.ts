import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { highlight } from './highlight.ts';

test('highlighting keeps every character of any code', () => {
  const languages = fc.constantFrom('curl', 'typescript', 'python', 'go', 'php', 'json', 'unknown');
  const code = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 200 }),
    fc.string({ unit: fc.constantFrom('"', "'", '`', '\\', '\n', '#', '/', ' ', 'a', '1', '-', 'H'), maxLength: 200 }),
  );
  fc.assert(
    fc.property(code, languages, (text, language) => {
      const pieces = highlight(text, language);
      assert.equal(pieces.map((piece) => piece.text).join(''), text);
      assert.ok(
        pieces.every((piece) => piece.text !== ''),
        'no piece is empty',
      );
    }),
  );
});

test('keys, strings, words and numbers get different kinds', () => {
  const kinds = highlight('{"to": "+44", "count": 1, "error": null}', 'json')
    .filter(({ kind }) => kind !== 'text')
    .map(({ kind, text }) => `${kind} ${text}`);
  assert.deepEqual(kinds, ['key "to"', 'string "+44"', 'key "count"', 'number 1', 'key "error"', 'word null']);
  assert.deepEqual(
    highlight("curl -i 'http://a'", 'curl').map(({ kind }) => kind),
    ['word', 'text', 'word', 'text', 'string'],
  );
});
