import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.ts';
import { firstWord, fixedWords, mayMeanStop, removableWords, wordOf } from './words.ts';

describe('a whole text', () => {
  test('is a keyword in any case, with marks, spaces, accents and full-width letters', () => {
    for (const text of ['stop', ' Stop! ', '"STOP".', 'S.T.O.P', 'ＳＴＯＰ', 'Stop\n', '¡STOP!', 'STOP 🛑'])
      assert.equal(wordOf(text)?.word, 'STOP', text);
    assert.deepEqual(wordOf('arrêt'), { kind: 'stop', word: 'ARRET', language: 'fr' });
    assert.equal(wordOf('opt-out')?.word, 'OPTOUT');
    assert.equal(wordOf('Stop all')?.word, 'STOPALL');
  });

  test('a text with more words is no keyword', () => {
    for (const text of [
      'stop it',
      'please stop',
      'STOP2',
      'nonstop',
      '',
      '   ',
      '!!!',
      'weekend',
      `${' '.repeat(70)}stop`,
    ])
      assert.equal(wordOf(text), undefined, text);
  });

  test('start and help words have their kind and language', () => {
    assert.equal(wordOf('Unstop')?.kind, 'start');
    assert.equal(wordOf('alta')?.kind, 'start');
    assert.deepEqual(
      ['help', 'Aide', 'ayuda', 'HILFE', 'info'].map((text) => wordOf(text)?.language),
      ['en', 'fr', 'es', 'de', 'en'],
    );
  });

  test('a number can ignore a keyword, but not a fixed one', () => {
    assert.equal(wordOf('end', ['END']), undefined);
    assert.equal(wordOf('quit', ['END'])?.word, 'QUIT');
    assert.deepEqual(
      fixedWords.filter((word) => removableWords.includes(word)),
      [],
    );
  });
});

describe('a text that may mean stop', () => {
  test('is short, and begins with a stop word', () => {
    for (const text of ['Stop texting me', 'STOP, please', 'End of month?']) assert.ok(mayMeanStop(text, null), text);
    for (const text of ['stop', 'please stop', 'x'.repeat(50), '', `stop ${'a'.repeat(60)}`])
      assert.ok(!mayMeanStop(text, null), text);
    assert.ok(!mayMeanStop('End of month', null, ['END']), 'an ignored word');
  });

  test('or has it behind the keyword', () => {
    assert.ok(mayMeanStop('Acme stop', 'ACME'), 'the keyword and a word');
    assert.ok(!mayMeanStop('Acme', 'ACME'), 'the keyword alone');
    assert.ok(!mayMeanStop('Acme stop', null), 'another word and a stop word');
  });
});

describe('any text', () => {
  test('is never both a keyword and a doubtful text, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 80 }), (text) => {
        const isWord = wordOf(text) !== undefined;
        assert.ok(!(isWord && mayMeanStop(text, null) && !/\s/u.test(text.trim())), JSON.stringify(text));
        firstWord(text);
      }),
    );
  });

  test('has a first word without marks, in upper case', () => {
    assert.equal(firstWord('  win, now'), 'WIN');
    assert.equal(firstWord('Gewinn!'), 'GEWINN');
    assert.equal(firstWord(' \n '), undefined);
  });
});
