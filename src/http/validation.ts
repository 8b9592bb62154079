import { Ajv, type ErrorObject, type SchemaValidateFunction, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { ApiError, type FieldProblem } from '../platform/errors.ts';
import { fieldProblems, schemaKeyword } from './field-problems.ts';

/** What a schema cannot say, an object's `check` does: a function from the object to what is wrong with its fields. */
type Check = (value: Record<string, unknown>) => FieldProblem[];

/** Unknown properties are ignored; nothing is coerced except in the query string, where everything arrives as text. */
function createAjv(coerceTypes: boolean): Ajv {
  const ajv = new Ajv({
    coerceTypes,
    allErrors: true,
    removeAdditional: false,
    useDefaults: true,
    verbose: true,
    strictTypes: false,
  });
  formats.default(ajv);
  ajv.addKeyword(schemaKeyword);
  ajv.addKeyword({ keyword: 'check', type: 'object', errors: 'full', validate: runCheck });
  return ajv;
}

const runCheck: SchemaValidateFunction = (check: Check, value: Record<string, unknown>, _schema, context) => {
  runCheck.errors = check(value).map(({ field, message }) => ({
    keyword: 'check',
    instancePath: `${context?.instancePath ?? ''}/${field}`,
    schemaPath: '',
    params: {},
    message,
  }));
  return runCheck.errors.length === 0;
};

const strict = createAjv(false);
const coercing = createAjv(true);

export function compileValidator(schema: object, part: string | undefined): ValidateFunction {
  return (part === 'querystring' ? coercing : strict).compile(schema);
}

const compiled = new WeakMap<object, ValidateFunction>();

/** What is wrong with one of several values in a body, each of which is accepted or refused by itself. */
export function problemsOf(schema: object, value: unknown): FieldProblem[] {
  const validate = compiled.get(schema) ?? strict.compile(schema);
  compiled.set(schema, validate);
  return validate(value) ? [] : fieldProblems(validate.errors ?? [], undefined);
}

/** The first fields say enough in a sentence; `details` has them all. */
const maxInMessage = 10;

/** Every bad field at once, each with what would be right. */
export function validationError(errors: ErrorObject[], part: string | undefined): ApiError {
  const details = fieldProblems(errors, part);
  const told = details.slice(0, maxInMessage).map(({ field, message }) => `${field} ${message}`);
  if (details.length > maxInMessage) told.push('and more, see details');
  return new ApiError('INVALID_ARGUMENT', told.join('; '), { details });
}
