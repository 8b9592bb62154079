import type { ErrorObject } from 'ajv';
import type { FieldProblem } from '../../platform/errors.ts';
import { shownName } from './text-bounds.ts';

/** Schema keyword for a description of a valid value; the message then reads "to must be …". */
export const schemaKeyword = 'expected';

/** Report at most this many: a body can have thousands of problems, and listing them would delay other callers. */
const mostProblems = 100;
const andMore: FieldProblem = {
  field: 'details',
  message: `lists the first ${mostProblems} invalid fields; there are more`,
};

/** Turns Ajv's errors, one per rule, into one problem per field. `part` is the value's path in the request. */
export function fieldProblems(errors: ErrorObject[], part: string | undefined): FieldProblem[] {
  const problems = new Map<string, FieldProblem>();
  for (const error of withUnions(errors)) {
    const problem = describe(error, part);
    // A value can fail several rules; report the first.
    if (!problems.has(problem.field)) problems.set(problem.field, problem);
    // One extra problem makes `mergeProblems` add "there are more".
    if (problems.size > mostProblems) break;
  }
  return mergeProblems([...problems.values()], []);
}

/** Merges two lists, one problem per field; the first list wins. */
export function mergeProblems(first: FieldProblem[], second: FieldProblem[]): FieldProblem[] {
  // Most requests have no problems: skip the set for them.
  const named = second.length === 0 ? undefined : new Set(first.map(({ field }) => field));
  const all = named === undefined ? first : [...first, ...second.filter(({ field }) => !named.has(field))];
  return all.length <= mostProblems ? all : [...all.slice(0, mostProblems), andMore];
}

/**
 * For a union, Ajv reports each alternative's errors, then that none fitted. If a value nearly fitted an alternative,
 * keep that one's errors; else merge all into the union's error.
 */
function withUnions(errors: ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    if (error.keyword !== 'anyOf') {
      kept.push(error);
      continue;
    }
    const alternatives: ErrorObject[] = [];
    for (let last = kept.at(-1); last !== undefined && belongsTo(error, last); last = kept.at(-1)) {
      alternatives.unshift(last);
      kept.pop();
    }
    const near = alternatives.filter(({ keyword }) => keyword !== 'type' && keyword !== 'const');
    if (near.length > 0 && expectedOf(error.parentSchema) === undefined) kept.push(...near);
    else kept.push({ ...error, params: { alternatives } });
  }
  return kept;
}

function belongsTo(union: ErrorObject, { schemaPath, instancePath }: ErrorObject): boolean {
  return schemaPath.startsWith(`${union.schemaPath}/`) && instancePath.startsWith(union.instancePath);
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
  // The validator gets null when there is no body.
  if (path.length === 0 && part === 'body' && (error.data ?? null) === null) {
    return { field: 'body', message: 'is required: send a JSON object' };
  }
  if (error.keyword === 'additionalProperties') {
    const name = shownName(String(error.params.additionalProperty));
    return { field: [...path, name].join('.'), message: 'is not known here' };
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
      return `must be ${anyOf([error.params.type].flat().map(article))}`;
    case 'enum':
      return `must be ${oneOf(error.params.allowedValues)}`;
    case 'const':
      return `must be ${oneOf([error.params.allowedValue])}`;
    case 'anyOf':
      return `must be ${alternativesOf(error.params.alternatives)}`;
    case 'format':
      return `must be ${article(error.params.format)}`;
    case 'minLength':
    case 'minItems':
      return error.params.limit === 1 ? 'must not be empty' : `must have at least ${counted(error)}`;
    case 'maxLength':
    case 'maxItems':
      return `must have at most ${counted(error)}`;
    case 'minimum':
      return `must be ${error.params.limit} or more`;
    case 'maximum':
      return `must be ${error.params.limit} or less`;
    default:
      return error.message ?? 'is not valid';
  }
}

function alternativesOf(errors: ErrorObject[]): string {
  if (errors.every(({ keyword }) => keyword === 'const')) return oneOf(errors.map(({ params }) => params.allowedValue));
  return anyOf(errors.map(({ params }) => ('type' in params ? article(params.type) : String(params.allowedValue))));
}

function oneOf(values: unknown[]): string {
  return `${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`;
}

function counted({ keyword, params }: ErrorObject): string {
  const [one, many] = keyword.endsWith('Items') ? ['entry', 'entries'] : ['character', 'characters'];
  return `${params.limit} ${params.limit === 1 ? one : many}`;
}

function article(noun: string): string {
  if (noun === 'null') return noun;
  return `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

function anyOf(nouns: string[]): string {
  return nouns.join(' or ');
}
