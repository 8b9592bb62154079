// Tests: src/twilio/form.test.ts
import { fieldProblems } from '../http/request/field-problems.ts';
import { unstorable } from '../http/request/text-bounds.ts';
import { compileValidator } from '../http/request/validation.ts';
import type { FieldProblem } from '../platform/errors.ts';
import { invalidParameter } from './errors.ts';

/** The values of a form by name. Parameters that we do not know are ignored, as Twilio does. */
export type Fields<Name extends string> = Partial<Record<Name, string>>;

export interface FormRules<Name extends string> {
  /** The longest value of each parameter that we read, in UTF-16 units. */
  longest: Record<Name, number>;
  /** Parameters that would change what is sent, and that we do not support, with the reason. */
  refused: Record<string, string>;
}

/** Reads the parameters of a call; the bytes and the number of parameters are bounded before. */
export function readFields<Name extends string>(form: URLSearchParams, rules: FormRules<Name>): Fields<Name> {
  const fields: Fields<Name> = {};
  for (const [name, value] of form) {
    const problem = rules.refused[name];
    if (problem !== undefined && Object.hasOwn(rules.refused, name)) throw invalidParameter(name, problem);
    if (!Object.hasOwn(rules.longest, name)) continue;
    if (Object.hasOwn(fields, name)) throw invalidParameter(name, 'must be given once');
    const most = rules.longest[name as Name];
    if (value.length > most) throw invalidParameter(name, `must have at most ${most} characters`);
    const found = unstorable(value);
    if (found !== undefined) throw invalidParameter(name, `must not contain ${found}`);
    fields[name as Name] = value;
  }
  return fields;
}

/** The problems of a body made from such fields, whose text was checked before. */
export function problemsOf(schema: object, body: object): FieldProblem[] {
  const validate = compileValidator(schema);
  return validate(body) ? [] : fieldProblems(validate.errors ?? [], undefined);
}

/** A whole number as a JSON body would have it; other text stays, and the rules refuse it. */
export function toNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text;
}

/** Like `toNumber`, for true and false. */
export function toBoolean(text: string | undefined): boolean | string | undefined {
  if (text === undefined) return undefined;
  const lower = text.toLowerCase();
  return lower === 'true' || lower === 'false' ? lower === 'true' : text;
}
