import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinCarrierWords, readCarrierWords } from './words.ts';

test('words that can be stored and shown stay as they are', () => {
  for (const words of ['0x45: submit failed', 'HTTP 403, 30007', 'stat:UNDELIV err:069', 'Empfänger gesperrt', '拒绝'])
    assert.equal(readCarrierWords(words), words);
});

test('characters that control a terminal, or that Postgres rejects, are replaced', () => {
  assert.equal(readCarrierWords('a\0b\u001b[2Jc\nd\u2028e\u202ef'), 'a?b?[2Jc?d?e?f');
  assert.equal(readCarrierWords('\ud83d'), '\ufffd');
});

test('long words are cut, without half a character at the end', () => {
  assert.equal(readCarrierWords('x'.repeat(100_000))?.length, 64);
  assert.equal(readCarrierWords(`${'x'.repeat(63)}\u{1f600}`), `${'x'.repeat(63)}\ufffd`);
});

test('nothing is null', () => {
  for (const words of ['', '  ', null, undefined]) assert.equal(readCarrierWords(words), null);
});

test('words are joined by commas; what is missing is left out', () => {
  assert.equal(joinCarrierWords(['HTTP 403', undefined, '30007']), 'HTTP 403, 30007');
  assert.equal(joinCarrierWords([undefined, '']), '');
});
