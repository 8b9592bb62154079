import { Ajv, type AnySchemaObject, type FuncKeywordDefinition, type ValidateFunction } from 'ajv';
import type { DataValidateFunction } from 'ajv/dist/types/index.js';
import { readTimestamp } from '../platform/clock.ts';
import { ApiError, type FieldProblem } from '../platform/errors.ts';
import { fieldProblems, mergeProblems, schemaKeyword } from './field-problems.ts';
import { isLongerThan, textProblems } from './text-bounds.ts';

/** What a schema cannot say, an object's `check` does: a function from the object to what is wrong with its fields. */
type Check = (value: Record<string, unknown>) => FieldProblem[];

/** The schema of a list's items that are accepted or refused one by one: documented, and checked by the handler. */
export const itemKeyword = 'eachByItself';

/**
 * Ajv runs every rule on a value, also after its length was refused. So the rules that cost more than a look, `pattern`
 * and `check`, pass over what is too long: `maxLength` has told it.
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

/** The same object, without the strings that are too long to be worked on. */
function withinBounds(value: Record<string, unknown>, bounds: { name: string; maxLength: number }[]) {
  const tooLong = bounds.filter(({ name, maxLength }) => {
    const text = value[name];
    return typeof text === 'string' && isLongerThan(text, maxLength);
  });
  return tooLong.length === 0
    ? value
    : { ...value, ...Object.fromEntries(tooLong.map(({ name }) => [name, undefined])) };
}

/** Unknown properties are ignored, and nothing is coerced. */
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
  ajv.removeKeyword('pattern').addKeyword(pattern);
  ajv.addKeyword(check);
  return ajv;
}

const ajv = createAjv();
const compiled = new WeakMap<object, ValidateFunction>();

export function compileValidator(schema: object): ValidateFunction {
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  return validate;
}

/** Whether a schema has nothing against a value, for those who need not know what. */
export function isRight(schema: object, value: unknown): boolean {
  return compileValidator(schema)(value);
}

/** What is wrong with one of several values in a body, each of which is accepted or refused by itself. */
export function problemsOf(schema: object, value: unknown): FieldProblem[] {
  const validate = compileValidator(schema);
  const told = validate(value) ? [] : fieldProblems(validate.errors ?? [], undefined);
  return mergeProblems(told, textProblems(value));
}

/** The lists of a body whose items are accepted or refused one by one. */
export function listsByItem(schema: object | undefined): ReadonlySet<string> {
  const properties = (schema as { properties?: Record<string, { items?: object }> } | undefined)?.properties ?? {};
  return new Set(Object.keys(properties).filter((name) => itemKeyword in (properties[name]?.items ?? {})));
}

/** The first fields say enough in a sentence; `details` has them all. */
const maxInMessage = 10;

/** Every bad field at once, each with what would be right. */
export function validationError(details: FieldProblem[]): ApiError {
  const told = details.slice(0, maxInMessage).map(({ field, message }) => `${field} ${message}`);
  if (details.length > maxInMessage) told.push('and more, see details');
  return new ApiError('INVALID_ARGUMENT', told.join('; '), { details });
}
