import { Ajv, type ErrorObject, type SchemaValidateFunction, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { ApiError, type FieldProblem } from '../platform/errors.ts';

/**
 * A schema may say in `expected` what a right value looks like; the error then reads "to must be …". What a schema cannot
 * say, an object's `check` does: a function from the object to what is wrong with its fields. Unknown properties are
 * ignored; nothing is coerced except in the query string, where everything arrives as text.
 */
export const schemaKeyword = 'expected';

type Check = (value: Record<string, unknown>) => FieldProblem[];

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
  return validate(value) ? [] : describeAll(validate.errors ?? [], undefined);
}

function describeAll(errors: ErrorObject[], part: string | undefined): FieldProblem[] {
  const details: FieldProblem[] = [];
  for (const error of errors) {
    const problem = describe(error, part);
    // A bad value can fail several rules; the first says enough.
    if (!details.some(({ field }) => field === problem.field)) details.push(problem);
  }
  return details;
}

/** Every bad field at once, each with what would be right. */
export function validationError(errors: ErrorObject[], part: string | undefined): ApiError {
  const details = describeAll(errors, part);
  const message = details.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new ApiError('INVALID_ARGUMENT', message, { details });
}

function describe(error: ErrorObject, part: string | undefined): FieldProblem {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (error.keyword === 'required') {
    const field = [...path, String(error.params.missingProperty)].join('.');
    const expected = expectedOf(error.parentSchema?.properties?.[error.params.missingProperty]);
    return { field, message: expected === undefined ? 'is required' : `is required: ${expected}` };
  }
  // Fastify hands the validator null when there is no body.
  if (path.length === 0 && part === 'body' && (error.data ?? null) === null) {
    return { field: 'body', message: 'is required: send a JSON object' };
  }
  const field = path.join('.') || (part === 'body' ? 'body' : (part ?? 'request'));
  if (error.keyword === 'check') return { field, message: error.message ?? 'is not valid' };
  const expected = expectedOf(error.parentSchema);
  if (expected !== undefined) return { field, message: `must be ${expected}` };
  return { field, message: plainMessage(error) };
}

function expectedOf(schema: unknown): string | undefined {
  const expected = (schema as Record<string, unknown> | undefined)?.[schemaKeyword];
  return typeof expected === 'string' ? expected : undefined;
}

function plainMessage(error: ErrorObject): string {
  switch (error.keyword) {
    case 'type':
      return `must be ${article(String(error.params.type))}`;
    case 'enum':
    case 'const': {
      const allowed: unknown[] = error.params.allowedValues ?? [error.params.allowedValue];
      return `must be ${allowed.length > 1 ? 'one of ' : ''}${allowed.join(', ')}`;
    }
    case 'minLength':
    case 'minItems':
      return error.params.limit === 1 ? 'must not be empty' : `must have at least ${error.params.limit} ${unit(error)}`;
    case 'maxLength':
    case 'maxItems':
      return `must have at most ${error.params.limit} ${unit(error)}`;
    case 'minimum':
      return `must be ${error.params.limit} or more`;
    case 'maximum':
      return `must be ${error.params.limit} or less`;
    default:
      return error.message ?? 'is not valid';
  }
}

function unit(error: ErrorObject): string {
  return error.keyword.endsWith('Items') ? 'entries' : 'characters';
}

function article(type: string): string {
  return type.includes(',') ? type.replaceAll(',', ' or ') : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}
