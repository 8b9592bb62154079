import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { emailPattern, readEmail } from './email.ts';

test('an address has one spelling, whatever its case and its Unicode form', () => {
  assert.equal(readEmail('Ada.Lovelace@Example.COM'), 'ada.lovelace@example.com');
  assert.equal(readEmail('jose\u0301@example.com'), readEmail('JOSÉ@example.com'));
  assert.equal(readEmail('demo@sandbox.invalid'), 'demo@sandbox.invalid');
});

test('a letter that only some locales fold is a letter of its own', () => {
  assert.notEqual(readEmail('İ@example.com'), readEmail('i@example.com'));
  assert.notEqual(readEmail('ı@example.com'), readEmail('i@example.com'));
});

test('what is no address is refused', () => {
  const wrong = [
    '',
    'nobody',
    '@example.com',
    'a@b',
    'a@.com',
    'a@b.',
    'a@b..c',
    'a@b@c.d',
    'a b@c.d',
    'a\u0000@b.c',
    'a\ud800@b.c',
    'a\u202e@b.c',
    `${'x'.repeat(65)}@example.com`,
    `a@${'x'.repeat(250)}.com`,
  ];
  for (const text of wrong) assert.equal(readEmail(text), undefined, JSON.stringify(text.slice(0, 20)));
});

test('reading it twice changes nothing, and what was read fits the schema of a sign-up', () => {
  const schema = new RegExp(emailPattern, 'u');
  const part = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(part, part, (name, host) => {
      const email = readEmail(`${name}@${host}.example`);
      if (email === undefined) return;
      assert.equal(readEmail(email), email);
      assert.match(email, schema);
    }),
  );
});
