import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { inShort } from '../../../test/support/effort.ts';
import {
  countryOf,
  loadPhoneNumbers,
  maskNumber,
  numberProblem,
  readNumber,
  readNumberFilter,
  readNumberSearch,
  typeOf,
} from './phone-number.ts';

test('functions that need libphonenumber throw before it is loaded; the sandbox needs none of them', async () => {
  // A copy of its own: another test file in this process may have loaded it already.
  const unloaded = (await import('./phone-number.ts?unloaded' as string)) as typeof import('./phone-number.ts');
  assert.equal(unloaded.numberProblem('+447700900123', 'sandbox'), undefined);
  assert.match(unloaded.numberProblem('447700900123', 'production') ?? '', /^must be a plus/);
  assert.throws(() => unloaded.numberProblem('+447700900123', 'production'), /loadPhoneNumbers/);
  assert.throws(() => unloaded.countryOf('+447700900123'), /loadPhoneNumbers/);
});

test('in either environment a number is a plus and 7 to 15 digits that begin with no zero', async () => {
  await loadPhoneNumbers();
  const wrong = [
    '',
    '+',
    '447700900123',
    '+0447700900123',
    '+123456',
    `+1${'2'.repeat(15)}`,
    '+447700900123\n',
    ' +447700900123',
    '+447700900123 ',
    '+ 447700900123',
    '+(44)7700900123',
    '+44 7700 900123)',
    '+44\t7700900123',
    '+44\u00a07700900123',
    '+44/7700/900123',
    `+44${' '.repeat(20)}7700900123`,
  ];
  const alsoWrong = ['tel:+447700900123', '+4477009OO123', '+٤٤٧٧٠٠٩٠٠١٢٣', '++447700900123', '+44770090012３'];
  for (const to of [...wrong, ...alsoWrong]) {
    for (const environment of ['sandbox', 'production'] as const) {
      assert.match(
        numberProblem(to, environment) ?? '',
        /^must be a plus, the country code and the number, 7 to 15 digits in all, like \+447700900123$/,
        to,
      );
    }
  }
  for (const to of ['+1234567', `+${'9'.repeat(15)}`, '+44 (7700) 900-123', '+999123456', '+4407700900123']) {
    assert.equal(numberProblem(to, 'sandbox'), undefined, to);
  }
});

test('production refuses what libphonenumber calls impossible, and says why', async () => {
  await loadPhoneNumbers();
  for (const to of [
    '+447700900123',
    '+15005550100',
    '+4915112345678',
    '+6589555555',
    '+870773111632',
    '+80012345678',
  ]) {
    assert.equal(numberProblem(to, 'production'), undefined, to);
  }
  assert.match(numberProblem('+1212555123', 'production') ?? '', /; this is too short or too long for \+1$/);
  assert.match(numberProblem('+121255512345', 'production') ?? '', /; this is too short or too long for \+1$/);
  assert.match(numberProblem('+999123456', 'production') ?? '', /; no country has this code$/);
});

test('production refuses a trunk prefix, which libphonenumber would forgive, and does not repeat the number', async () => {
  await loadPhoneNumbers();
  assert.match(numberProblem('+4407700900123', 'production') ?? '', /; leave out the trunk prefix that follows \+44$/);
  assert.match(numberProblem('+330612345678', 'production') ?? '', /follows \+33$/);
  // With its zero this has a possible length, as German numbers have many lengths.
  assert.match(numberProblem('+49015112345678', 'production') ?? '', /follows \+49$/);
  assert.match(numberProblem('+789161234567', 'production') ?? '', /follows \+7$/);
  assert.match(numberProblem('+44 (0) 7700 900123', 'production') ?? '', /follows \+44$/);
  // Italy's zero belongs to the number.
  assert.equal(numberProblem('+390612345678', 'production'), undefined);
});

test('property: the short way by length agrees with libphonenumber, for every calling code and length', async () => {
  await loadPhoneNumbers();
  const codes = [
    ...new Set(getCountries().map((country) => getCountryCallingCode(country))),
    '800',
    '870',
    '883',
    '999',
  ];
  const number = fc
    .record({
      code: fc.constantFrom(...codes),
      // Prefixes of trunks and carriers are mostly made of these.
      start: fc.string({ unit: fc.constantFrom('0', '1', '5', '8', '9'), maxLength: 3 }),
      rest: fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 2, maxLength: 13, size: 'max' }),
    })
    .map(({ code, start, rest }) => `+${code}${start}${rest}`)
    .filter((to) => to.length >= 8 && to.length <= 16);
  fc.assert(
    fc.property(number, (to) => {
      const parsed = parsePhoneNumberFromString(to, { extract: false });
      const possible = parsed?.isPossible() ?? false;
      const problem = numberProblem(to, 'production');
      if (!possible) assert.notEqual(problem, undefined, to);
      if (possible && parsed?.number === to) assert.equal(problem, undefined, to);
      if (possible && problem !== undefined) assert.match(problem, /trunk prefix/);
      if (possible && parsed?.number !== to && to[1 + (parsed?.countryCallingCode.length ?? 0)] === '0') {
        assert.notEqual(problem, undefined, to);
      }
    }),
    { numRuns: inShort(2000, 20_000) },
  );
});

test('separators between digits are taken out; a filter may have a plus that was not encoded', () => {
  const forms = [
    '+44 7700 900123',
    '+44-7700-900-123',
    '+44.7700.900123',
    '+44 (7700) 900-123',
    '+4 4(7)7 00. - 900123',
  ];
  for (const form of forms) {
    assert.equal(readNumber(form), '+447700900123', form);
    assert.equal(readNumberFilter(form), '+447700900123', form);
    assert.equal(readNumberFilter(form.replace('+', ' ')), '+447700900123', form);
  }
  assert.equal(readNumberFilter(undefined), undefined);
  for (const other of ['', 'x', '\0', '+4477•••••123']) assert.equal(readNumberFilter(other), other);
});

test('a search takes a whole number in any spelling, or some of its digits', () => {
  for (const typed of ['+447700900123', ' 447700900123', '+44 (7700) 900-123 ']) {
    assert.deepEqual(readNumberSearch(typed), { to: '+447700900123' }, typed);
  }
  for (const [typed, part] of [
    ['0114', '0114'],
    ['555 0114', '5550114'],
    ['07700 900123', '7700900123'],
    ['0044 7700 900123', '447700900123'],
    ['+4477', '4477'],
  ] as const) {
    assert.deepEqual(readNumberSearch(typed), { part }, typed);
  }
  assert.deepEqual(readNumberSearch(undefined), {});
  assert.deepEqual(readNumberSearch('  '), {});
  for (const other of ['x\0', '+', '+4477•••••123']) assert.deepEqual(readNumberSearch(other), { to: other });
});

test('property: a number is read from every way to write it in 32 characters, and from nothing longer', () => {
  const separator = fc.string({ unit: fc.constantFrom(' ', '.', '-', '(', ')'), maxLength: 3 });
  const digit = fc.constantFrom(...'0123456789');
  const form = fc
    .record({ first: fc.constantFrom(...'123456789'), rest: fc.array(fc.tuple(separator, digit), { maxLength: 16 }) })
    .map(({ first, rest }) => ({
      text: `+${first}${rest.map(([between, next]) => between + next).join('')}`,
      digits: `+${first}${rest.map(([, next]) => next).join('')}`,
    }));
  fc.assert(
    fc.property(form, ({ text, digits }) => {
      const right = text.length <= 32 && digits.length >= 8 && digits.length <= 16;
      assert.equal(readNumber(text), right ? digits : undefined);
      assert.equal(numberProblem(text, 'sandbox') === undefined, right);
    }),
  );
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (text) => {
      const number = readNumber(text);
      assert.ok(number === undefined || readNumber(number) === number);
    }),
  );
});

test('countries and kinds of line', async () => {
  await loadPhoneNumbers();
  const known: [to: string, country: string | undefined, type: string | undefined][] = [
    ['+4915112345678', 'DE', 'MOBILE'],
    ['+12125551234', 'US', 'FIXED_LINE_OR_MOBILE'],
    ['+18769876543', 'JM', 'FIXED_LINE'],
    ['+390612345678', 'IT', 'FIXED_LINE'],
    // Ofcom's numbers for films: no one has them, and yet they are British.
    ['+447700900123', 'GB', undefined],
    ['+80012345678', undefined, 'TOLL_FREE'],
    ['+999123456', undefined, undefined],
    ['nonsense', undefined, undefined],
  ];
  for (const [to, country, type] of known) {
    assert.equal(countryOf(to), country, to);
    assert.equal(typeOf(to), type, to);
  }
});

test('masking keeps the country code and hides at least five of the other digits', () => {
  const masks: [to: string, masked: string][] = [
    ['+447700900123', '+4477•••••123'],
    ['+15005550100', '+150•••••100'],
    ['+3531234567', '+353•••••67'],
    ['+353123456789', '+3531•••••789'],
    ['+999999999999999', '+99999•••••••999'],
    ['+1234567', '+1•••••7'],
    ['+3531234', '+353••••'],
    ['+', '+'],
    ['', ''],
    ['07700900123', '•••••••••••'],
  ];
  for (const [to, masked] of masks) assert.equal(maskNumber(to), masked);
});

test('property: masking twice is masking once, and hides at least five digits where the rest has them', () => {
  const number = fc
    .tuple(fc.constantFrom(...'123456789'), fc.stringMatching(/^[0-9]{6,14}$/))
    .map(([a, b]) => `+${a}${b}`);
  fc.assert(
    fc.property(number, (to) => {
      const masked = maskNumber(to);
      assert.equal(masked.length, to.length);
      assert.equal(maskNumber(masked), masked);
      const hidden = [...masked].filter((character) => character === '•').length;
      assert.ok(hidden >= Math.min(5, to.length - 4), masked);
      for (let i = 0; i < to.length; i++) assert.ok(masked[i] === '•' || masked[i] === to[i]);
    }),
  );
});

test('the country codes that masking keeps are those that libphonenumber knows', () => {
  for (const country of getCountries()) {
    const code = getCountryCallingCode(country);
    assert.ok(maskNumber(`+${code}00000`).startsWith(`+${code}•`), code);
  }
});
