import { Ajv, type AnySchemaObject, type FuncKeywordDefinition, type ValidateFunction } from 'ajv';
import type { DataValidateFunction } from 'ajv/dist/types/index.js';
import { readTimestamp } from '../../platform/clock.ts';
import { ApiError, type FieldProblem } from '../../platform/errors.ts';
import { compileOnce } from './compiled-schemas.ts';
import { fieldProblems, mergeProblems, schemaKeyword } from './field-problems.ts';
import { isLongerThan, textProblems } from './text-bounds.ts';

/** A `check` function finds problems in an object that a schema cannot describe. */
type Check = (value: Record<string, unknown>) => FieldProblem[];

/** The schema of list items that are accepted or refused one by one: OpenAPI documents it, the handler checks it. */
export const itemKeyword = 'eachByItself';

/** A pattern for the reference only: the handler, or a `check`, refuses what does not match, with a better message. */
export const shownPatternKeyword = 'shownPattern';

/** Any other keywords for the reference only, where the handler or a `check` refuses with a better message. */
export const shownKeyword = 'shown';

/** The values that a text of an answer has today. Lists of values can grow, so a client must expect others. */
export const valuesKeyword = 'openValues';

/**
 * Ajv runs every rule on a value, even after `maxLength` failed. So the costly rules, `pattern` and `check`, skip texts
 * that are too long.
 */
const pattern: FuncKeywordDefinition = {
  keyword: 'pattern',
  type: 'string',
  schemaType: 'string',
  errors: true,
  compile(source: string, parentSchema: AnySchemaObject): DataValidateFunction {
    const expression = new RegExp(source, 'u');
    const { maxLength = Number.POSITIVE_INFINITY } = parentSchema;
    const validate: DataValidateFunction = (text: string) => {
      if (isLongerThan(text, maxLength) || expression.test(text)) return true;
      const message = `must match pattern "${source}"`;
      validate.errors = [{ keyword: 'pattern', message, params: { pattern: source }, parentSchema }];
      return false;
    };
    return validate;
  },
};

const check: FuncKeywordDefinition = {
  keyword: 'check',
  type: 'object',
  errors: 'full',
  compile(run: Check, parentSchema: AnySchemaObject): DataValidateFunction {
    const properties: Record<string, { maxLength?: number }> = parentSchema.properties ?? {};
    const bounds = Object.entries(properties).flatMap(([name, { maxLength }]) =>
      maxLength === undefined ? [] : [{ name, maxLength }],
    );
    const validate: DataValidateFunction = (value: Record<string, unknown>, context) => {
      validate.errors = run(withinBounds(value, bounds)).map(({ field, message }) => ({
        keyword: 'check',
        instancePath: `${context?.instancePath ?? ''}/${field}`,
        schemaPath: '',
        params: {},
        message,
      }));
      return validate.errors.length === 0;
    };
    return validate;
  },
};

/** A copy of the object without strings that are too long to check. */
function withinBounds(value: Record<string, unknown>, bounds: { name: string; maxLength: number }[]) {
  let within = value;
  for (const { name, maxLength } of bounds) {
    const text = value[name];
    if (typeof text === 'string' && isLongerThan(text, maxLength)) within = { ...within, [name]: undefined };
  }
  return within;
}

/** Ignores unknown properties and coerces nothing. */
function createAjv(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    removeAdditional: false,
    useDefaults: true,
    verbose: true,
    strictTypes: false,
  });
  ajv.addFormat('date-time', (text: string) => readTimestamp(text) !== undefined);
  ajv.addKeyword(schemaKeyword);
  ajv.addKeyword(itemKeyword);
  ajv.addKeyword(shownPatternKeyword);
  ajv.addKeyword(shownKeyword);
  ajv.addKeyword(valuesKeyword);
  ajv.removeKeyword('pattern').addKeyword(pattern);
  ajv.addKeyword(check);
  return ajv;
}

const ajv = createAjv();

export const compileValidator = compileOnce((schema): ValidateFunction => ajv.compile(schema));

/** Whether a value fits a schema, without the reasons. */
export function isRight(schema: object, value: unknown): boolean {
  return compileValidator(schema)(value);
}

/** The problems of one list item that is accepted or refused by itself. */
export function problemsOf(schema: object, value: unknown): FieldProblem[] {
  const validate = compileValidator(schema);
  const problems = validate(value) ? [] : fieldProblems(validate.errors ?? [], undefined);
  return mergeProblems(problems, textProblems(value));
}

/** The lists of a body whose items are accepted or refused one by one. */
export function listsByItem(schema: object | undefined): ReadonlySet<string> {
  const properties = (schema as { properties?: Record<string, { items?: object }> } | undefined)?.properties ?? {};
  return new Set(Object.keys(properties).filter((name) => itemKeyword in (properties[name]?.items ?? {})));
}

/** The message names the first fields; `details` lists them all. */
const maxInMessage = 10;

/** One error for all bad fields, each with its valid form. */
export function validationError(details: FieldProblem[]): ApiError {
  const sentences = details.slice(0, maxInMessage).map(({ field, message }) => `${field} ${message}`);
  if (details.length > maxInMessage) sentences.push('and more, see details');
  return new ApiError('INVALID_ARGUMENT', sentences.join('; '), { details });
}
