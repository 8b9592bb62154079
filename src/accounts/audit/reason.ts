import { Type } from 'typebox';

/** Why an operator refused or stopped something, for people to read. */
export const reasonSchema = Type.String({
  minLength: 1,
  maxLength: 500,
  // Not blank, and no character that Postgres refuses.
  pattern: '^\\s*[^\\s\\u0000][^\\u0000]*$',
  expected: 'a reason (1–500 characters)',
  examples: ['The name belongs to another company'],
});
