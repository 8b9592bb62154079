import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measure } from '../../messages/text/text.ts';
import { androidHashProblem, autofillLine, domainProblem, embeddedProblem } from './autofill.ts';

/** A host name of exactly `length` characters. */
function hostOf(length: number): string {
  return `${'a.'.repeat(100)}example`.slice(-length).replace(/^\./, 'a');
}

test('the line: nothing, the WebOTP line, or the hash, each as the last line', () => {
  assert.equal(autofillLine(null, '123456'), '');
  assert.equal(autofillLine({ domain: 'example.com' }, '123456'), '\n@example.com #123456');
  assert.equal(autofillLine({ domain: 'Login.Example.COM' }, '123456'), '\n@login.example.com #123456');
  assert.equal(autofillLine({ android_hash: 'FA+9qCX9VSu' }, '123456'), '\nFA+9qCX9VSu');
  const inFrame = { domain: 'Bank.example', embedded_in: 'Shop.example' };
  assert.equal(autofillLine(inFrame, '123456'), '\n@shop.example #123456 @bank.example');
});

test('embedded_in: a host like domain, and both fill one segment at most', () => {
  assert.equal(embeddedProblem('shop.example', 'bank.example'), undefined);
  for (const bad of ['shop', 'https://shop.example', 'a.example b.example', ''])
    assert.match(embeddedProblem(bad, 'bank.example') ?? '', /^must be a host name/, bad);
  for (let length = 20; length < 140; length++) {
    const [domain, embedded_in] = [hostOf(40), hostOf(length)];
    const text = `0000000000${autofillLine({ domain, embedded_in }, '0000000000')}`;
    assert.equal(embeddedProblem(embedded_in, domain) === undefined, measure(text).count === 1, `${length}`);
  }
});

test('domain: host names in ASCII or Punycode with at least one dot', () => {
  for (const domain of [
    'example.com',
    'a.bc',
    'EXAMPLE.com',
    'a-b.c--d.example',
    '1.example',
    '123.456.example',
    'xn--bcher-kva.example',
    'example.xn--p1ai',
    `${'a'.repeat(63)}.example`,
  ]) {
    assert.equal(domainProblem(domain), undefined, domain);
  }
});

test('domain: anything else is refused, with what would be right', () => {
  const right = 'must be a host name with at least one dot, like example.com, without scheme, port or path';
  for (const domain of [
    '',
    '.',
    'localhost',
    'example',
    '.example.com',
    'example.com.',
    'example..com',
    '-a.example',
    'a-.example',
    'a_b.example',
    'example.com:443',
    'https://example.com',
    'example.com/login',
    'user@example.com',
    'example.com #1234',
    'example.com\n',
    ' example.com',
    '192.0.2.1',
    '[2001:db8::1]',
    '1.2.3.0x4',
    'xn--a.example',
    'xn--a-.example',
    'example.xn--0',
    `${'a'.repeat(64)}.example`,
    '*.example.com',
    'münchen example.com',
  ]) {
    assert.equal(domainProblem(domain), right, domain);
  }
  assert.equal(domainProblem('bücher.example'), 'must be in ASCII: xn--bcher-kva.example');
  assert.equal(domainProblem('ｅxample.com'), 'must be in ASCII: example.com');
});

test('domain: at most as long as leaves room for the longest code in one segment', () => {
  for (const [length, fits] of [
    [135, true],
    [136, true],
    [137, false],
    [200, false],
  ] as const) {
    const domain = hostOf(length);
    assert.equal(domain.length, length);
    const problem = `must have at most 136 characters, so that the text fits in one segment; this has ${length}`;
    assert.equal(domainProblem(domain), fits ? undefined : problem);
    assert.equal(measure(`0123456789${autofillLine({ domain }, '0123456789')}`).count === 1, fits);
  }
});

test('android_hash: exactly 11 characters of base64', () => {
  for (const hash of ['FA+9qCX9VSu', 'aaaaaaaaaaa', '+/+/+/+/+/+', '01234567890']) {
    assert.equal(androidHashProblem(hash), undefined, hash);
  }
  for (const hash of [
    '',
    'FA+9qCX9VS',
    'FA+9qCX9VSuu',
    'FA+9qCX9VS=',
    'FA-9qCX9VSu',
    'FA 9qCX9VSu',
    'FA+9qCX9VSu\n',
    'FA+9qCX9VSé',
  ]) {
    assert.match(androidHashProblem(hash) ?? '', /^must be the 11 characters \(A-Z, a-z, 0-9, \+ or \/\)/, hash);
  }
});

test('domain: a text longer than any host name is refused at once', () => {
  const right = 'must be a host name with at least one dot, like example.com, without scheme, port or path';
  assert.equal(domainProblem(`${'ü'.repeat(20_000)}.example`), right);
  assert.equal(domainProblem(`${'a.'.repeat(127)}com`), right);
});
