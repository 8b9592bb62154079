import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TwilioError } from './errors.ts';
import { type FormRules, readFields, toBoolean, toNumber } from './form.ts';

const rules: FormRules<'To' | 'Body'> = {
  longest: { To: 5, Body: 10 },
  refused: { MediaUrl: 'is not supported here' },
};
const read = (text: string) => readFields(new URLSearchParams(text), rules);
const refused = (text: string, named: RegExp) =>
  assert.throws(
    () => read(text),
    (error: unknown) => error instanceof TwilioError && error.number === 60200 && named.test(error.message),
    text,
  );

describe('fields of a form', () => {
  test('known ones are read, others are ignored, names of Object too', () => {
    assert.deepEqual(read('To=12345&Body=a+b%21&Other=1&Other=2&constructor=x&__proto__=y&toString=z'), {
      To: '12345',
      Body: 'a b!',
    });
    assert.deepEqual(read(''), {});
    assert.deepEqual(read('To='), { To: '' });
  });

  test('too long, twice, unstorable or unsupported: the error names the parameter', () => {
    refused('To=123456', /^Invalid parameter: To must have at most 5 characters$/);
    refused('To=1&To=1', /: To must be given once$/);
    refused('Body=a%00', /: Body must not contain a NUL character$/);
    refused('MediaUrl=', /: MediaUrl is not supported here$/);
  });
});

test('text that is no number or boolean stays text, and the rules refuse it', () => {
  assert.deepEqual(['60', '0', '060', '1e3', '-1', ' 1', '', '1234567890123456'].map(toNumber), [
    60,
    0,
    '060',
    '1e3',
    '-1',
    ' 1',
    '',
    '1234567890123456',
  ]);
  assert.deepEqual(['true', 'False', 'yes', ''].map(toBoolean), [true, false, 'yes', '']);
  assert.deepEqual([toNumber(undefined), toBoolean(undefined)], [undefined, undefined]);
});
