import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type TSchema, Type } from 'typebox';
import type { FieldProblem } from '../../platform/errors.ts';
import { fieldProblems } from './field-problems.ts';
import { compileValidator, validationError } from './validation.ts';

function refuse(schema: TSchema, value: unknown, part = 'body') {
  const validate = compileValidator(schema);
  return validate(value) ? undefined : validationError(fieldProblems(validate.errors ?? [], part));
}

function problems(schema: TSchema, value: unknown, part = 'body'): FieldProblem[] {
  return refuse(schema, value, part)?.details ?? [];
}

function messageFor(schema: TSchema, value: unknown): string | undefined {
  const [problem, ...more] = problems(Type.Object({ it: schema }), { it: value });
  assert.deepEqual(more, [], 'one field, one problem');
  assert.equal(problem?.field ?? 'it', 'it');
  return problem?.message;
}

describe('what a problem says', () => {
  const cases: [name: string, schema: TSchema, value: unknown, message: string | undefined][] = [
    ['a right value', Type.String(), 'a', undefined],
    ['a number for a string', Type.String(), 1, 'must be a string'],
    ['a string for an integer', Type.Integer(), '1', 'must be an integer'],
    ['a fraction for an integer', Type.Integer(), 1.5, 'must be an integer'],
    ['text for a boolean', Type.Boolean(), 'true', 'must be a boolean'],
    ['null for a string', Type.String(), null, 'must be a string'],
    ['an array for an object', Type.Object({}), [], 'must be an object'],
    ['an object for an array', Type.Array(Type.String()), {}, 'must be an array'],
    ['two types', Type.Unsafe({ type: ['string', 'null'] }), 1, 'must be a string or null'],
    ['an empty string', Type.String({ minLength: 1 }), '', 'must not be empty'],
    ['a short string', Type.String({ minLength: 3 }), 'ab', 'must have at least 3 characters'],
    ['a long string', Type.String({ maxLength: 3 }), 'abcd', 'must have at most 3 characters'],
    ['an empty array', Type.Array(Type.String(), { minItems: 1 }), [], 'must not be empty'],
    ['a short array', Type.Array(Type.String(), { minItems: 2 }), ['a'], 'must have at least 2 entries'],
    ['a long array', Type.Array(Type.String(), { maxItems: 1 }), ['a', 'b'], 'must have at most 1 entry'],
    ['a string of one at most', Type.String({ maxLength: 1 }), 'ab', 'must have at most 1 character'],
    ['a small number', Type.Integer({ minimum: 4 }), 3, 'must be 4 or more'],
    ['a large number', Type.Integer({ maximum: 10 }), 11, 'must be 10 or less'],
    ['not one of a list', Type.Unsafe({ enum: ['sms', 'voice'] }), 'fax', 'must be one of sms, voice'],
    ['not the only one', Type.Literal('sms'), 'fax', 'must be sms'],
    [
      'no literal of a union',
      Type.Union([Type.Literal('sms'), Type.Literal('voice')]),
      'fax',
      'must be one of sms, voice',
    ],
    ['no type of a union', Type.Union([Type.String(), Type.Integer()]), true, 'must be a string or an integer'],
    ['an empty string of a union', Type.Union([Type.String({ minLength: 1 }), Type.Null()]), '', 'must not be empty'],
    ['a pattern', Type.String({ pattern: '^[a-z]$' }), 'A', 'must match pattern "^[a-z]$"'],
    ['a format', Type.String({ format: 'date-time' }), 'today', 'must be a date-time'],
    ['what is expected', Type.String({ pattern: '^x', expected: 'a word in x' }), 'A', 'must be a word in x'],
    ['what is expected, of the wrong type', Type.String({ expected: 'a word in x' }), 1, 'must be a word in x'],
    [
      'what is expected of a union',
      Type.Union([Type.Literal(1), Type.Literal(2)], { expected: 'a half' }),
      3,
      'must be a half',
    ],
  ];
  for (const [name, schema, value, message] of cases) {
    test(name, () => assert.equal(messageFor(schema, value), message));
  }
});

describe('which fields it names', () => {
  const address = Type.Object({ city: Type.String(), lines: Type.Array(Type.String()) });

  test('every bad one, once, in the order of the schema', () => {
    const schema = Type.Object({
      a: Type.String({ minLength: 2, pattern: '^x' }),
      b: Type.Integer(),
      c: Type.String(),
    });
    assert.deepEqual(problems(schema, { a: '', b: 'x' }), [
      { field: 'c', message: 'is required' },
      { field: 'a', message: 'must have at least 2 characters' },
      { field: 'b', message: 'must be an integer' },
    ]);
  });

  test('by their path, through objects and arrays', () => {
    const schema = Type.Object({ address });
    assert.deepEqual(problems(schema, { address: { lines: ['a', 1] } }), [
      { field: 'address.city', message: 'is required' },
      { field: 'address.lines.1', message: 'must be a string' },
    ]);
  });

  test('a missing one is reported with its expected value', () => {
    const schema = Type.Object({ to: Type.String({ expected: 'a number such as +447700900123' }) });
    assert.deepEqual(problems(schema, {}), [{ field: 'to', message: 'is required: a number such as +447700900123' }]);
  });

  test('a body that is missing, and one that is no object', () => {
    const required = [{ field: 'body', message: 'is required: send a JSON object' }];
    assert.deepEqual(problems(address, null), required);
    assert.deepEqual(problems(address, undefined), required);
    assert.deepEqual(problems(address, []), [{ field: 'body', message: 'must be an object' }]);
  });

  test('names with a slash or a tilde are shown as they are', () => {
    const schema = Type.Object({ 'a/b~c': Type.String() });
    assert.deepEqual(problems(schema, { 'a/b~c': 1 }), [{ field: 'a/b~c', message: 'must be a string' }]);
  });

  test('none for properties it does not know', () => {
    assert.deepEqual(problems(Type.Object({}), { anything: 1 }), []);
  });
});

describe('the message', () => {
  test('says it all in one line', () => {
    const schema = Type.Object({ a: Type.String(), b: Type.Integer() });
    assert.equal(refuse(schema, { a: 1, b: 'x' })?.message, 'a must be a string; b must be an integer');
  });

  test('never repeats a value', () => {
    const schema = Type.Object({ a: Type.Integer(), b: Type.String({ pattern: '^x$' }), c: Type.Literal('d') });
    const error = refuse(schema, { a: 'tell-nobody', b: 'tell-nobody', c: 'tell-nobody' });
    assert.equal(error?.details.length, 3);
    assert.equal(JSON.stringify([error.message, error.details]).includes('tell-nobody'), false);
  });

  test('stays short for a body that is wrong thirty thousand times', () => {
    const schema = Type.Object({ list: Type.Array(Type.String(), { maxItems: 100 }) });
    const error = refuse(schema, { list: Array.from({ length: 30_000 }, () => 1) });
    assert.deepEqual(error?.details[0], { field: 'list', message: 'must have at most 100 entries' });
    assert.equal(error.details.length, 101);
    assert.deepEqual(error.details.at(-1), {
      field: 'details',
      message: 'lists the first 100 invalid fields; there are more',
    });
    assert.ok(error.message.length < 1000);
    assert.match(error.message, /; and more, see details$/);
  });
});

describe('what is too long is not worked on', () => {
  test('a pattern is not tried, and the message names the length', () => {
    const schema = Type.String({ maxLength: 3, pattern: '^(a+)+$' });
    assert.equal(messageFor(schema, `${'a'.repeat(60_000)}!`), 'must have at most 3 characters');
    assert.equal(messageFor(schema, 'ab'), 'must match pattern "^(a+)+$"');
  });

  test('a check does not see it, and still reports the other fields', () => {
    const seen: Record<string, unknown>[] = [];
    const check = (value: Record<string, unknown>) => {
      seen.push(value);
      return [{ field: 'b', message: 'must be better' }];
    };
    const schema = Type.Object({ a: Type.String({ maxLength: 3 }), b: Type.String() }, { check });
    assert.deepEqual(problems(schema, { a: 'abcd', b: 'b' }), [
      { field: 'a', message: 'must have at most 3 characters' },
      { field: 'b', message: 'must be better' },
    ]);
    assert.deepEqual(seen, [{ a: undefined, b: 'b' }]);
  });

  test('an emoji is one character', () => {
    const schema = Type.String({ maxLength: 2, pattern: '^x$' });
    assert.equal(messageFor(schema, '😀😀'), 'must match pattern "^x$"');
    assert.equal(messageFor(schema, '😀😀😀'), 'must have at most 2 characters');
  });
});
