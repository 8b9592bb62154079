import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEmail } from './email.ts';

test('an address has one spelling', () => {
  assert.equal(readEmail('Ada.Lovelace+test@Example.COM'), 'ada.lovelace+test@example.com');
  assert.equal(readEmail('ISTANBUL@EXAMPLE.COM'), 'istanbul@example.com');
  assert.equal(readEmail('demo@sandbox.invalid'), 'demo@sandbox.invalid');
  assert.equal(readEmail('a@xn--mller-kva.de'), 'a@xn--mller-kva.de');
});

test('a text that is not an address is refused', () => {
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
    'a@c.d\n',
    'a\u0000@b.c',
    'a\ud800@b.c',
    'a\u202e@b.c',
    'İ@example.com',
    'a@exampl\u212a.com',
    `${'x'.repeat(65)}@example.com`,
    `a@${'x'.repeat(250)}.com`,
    `a@${'.a'.repeat(1_000_000)}`,
  ];
  for (const text of wrong) assert.equal(readEmail(text), undefined, JSON.stringify(text.slice(0, 20)));
});
