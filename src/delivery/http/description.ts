import { type Static, Type } from 'typebox';
import { problemsOf } from '../../http/validation.ts';
import { type MessageErrorCode, messageErrorCodes, type ReceiptOutcome } from '../../messages/message.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { pathProblem } from './paths.ts';
import { proofProblems, proofSchema } from './proof-settings.ts';
import { readTemplate, templateProblem } from './template.ts';

const text = (maxLength = 512) => Type.String({ maxLength });
const path = Type.String({
  maxLength: 256,
  description: 'Names and indexes with dots between them; * for every entry',
});
const literals = <Name extends string>(names: readonly Name[], options: object = {}) =>
  Type.Unsafe<Name>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      { expected: `one of ${names.join(', ')}`, ...options },
    ),
  );
const errorCode = literals<MessageErrorCode>(messageErrorCodes);
const closed = { additionalProperties: false };
const statusList = Type.Array(Type.Integer({ minimum: 100, maximum: 599 }), { maxItems: 32 });
const written = Type.Union([
  Type.String({ maxLength: 128 }),
  Type.Number({ minimum: -1e15, maximum: 1e15 }),
  Type.Boolean(),
]);

/** An answer fits if its status is listed, and the value at the path too; what is not given fits every answer. */
const condition = {
  status: Type.Optional(statusList),
  path: Type.Optional(path),
  in: Type.Optional(Type.Array(written, { maxItems: 100 })),
};

/**
 * What an answer means for its text. `never`: refused for good. `elsewhere`: another carrier may take it. `retry`: later.
 * `account`: the account is refused, so the carrier pauses. `in_doubt`: the text may have been sent.
 */
export const errorClasses = ['never', 'elsewhere', 'retry', 'throttled', 'account', 'in_doubt'] as const;

const authSchema = Type.Object(
  {
    kind: literals(['header', 'basic', 'bearer', 'query', 'body', 'oauth2']),
    name: Type.Optional(text(64)),
    value: Type.Optional(text()),
    user: Type.Optional(text()),
    password: Type.Optional(text()),
    token_url: Type.Optional(text()),
    scope: Type.Optional(text()),
  },
  closed,
);

const answerSchema = Type.Object({ type: text(64), body: text(512) }, closed);
const only = Type.Object({ path, in: Type.Array(written, { minItems: 1, maxItems: 100 }) }, closed);
const stateNames = ['delivered', 'undelivered', 'expired', 'failed', 'unknown', 'pending'] as const;

const receiptSchema = Type.Object(
  {
    format: Type.Optional(literals(['json', 'form', 'query'])),
    list: Type.Optional(path),
    only: Type.Optional(only),
    id: path,
    part: Type.Optional(path),
    reference: Type.Optional(path),
    to: Type.Optional(path),
    state: Type.Object({ path, map: Type.Record(text(64), literals(stateNames), { maxProperties: 100 }) }, closed),
    error: Type.Optional(Type.Object({ path, map: Type.Record(text(64), errorCode, { maxProperties: 300 }) }, closed)),
    verify: proofSchema,
    answer: Type.Optional(answerSchema),
  },
  closed,
);

const inboundSchema = Type.Object(
  {
    format: Type.Optional(literals(['json', 'form', 'query'])),
    list: Type.Optional(path),
    only: Type.Optional(only),
    id: Type.Optional(path),
    from: path,
    to: path,
    text: path,
    part: Type.Optional(Type.Object({ reference: path, part: path, total: path }, closed)),
    verify: proofSchema,
    answer: Type.Optional(answerSchema),
  },
  closed,
);

/** How a provider's HTTP API is spoken: data, so that a new provider needs no code. */
export const descriptionSchema = Type.Object(
  {
    url: Type.String({ maxLength: 1024 }),
    method: Type.Optional(literals(['POST', 'GET'])),
    headers: Type.Optional(Type.Record(text(64), text(), { maxProperties: 16 })),
    auth: Type.Optional(authSchema),
    query: Type.Optional(Type.Record(text(64), text(), { maxProperties: 32 })),
    form: Type.Optional(Type.Record(text(64), text(), { maxProperties: 32 })),
    json: Type.Optional(
      Type.Unsafe<unknown>({
        type: ['object', 'array'],
        maxProperties: 50,
        maxItems: 50,
        items: { type: ['object', 'string'], maxProperties: 50, maxLength: 1024 },
        expected: 'an object or a list',
      }),
    ),
    answer: Type.Optional(literals(['json', 'text'])),
    separator: Type.Optional(Type.String({ minLength: 1, maxLength: 4 })),
    accepted: Type.Array(Type.Object(condition, closed), { minItems: 1, maxItems: 16 }),
    id: Type.Optional(path),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            ...condition,
            class: literals(errorClasses),
            code: Type.Optional(errorCode),
            after: Type.Optional(text(128)),
          },
          closed,
        ),
        { maxItems: 100 },
      ),
    ),
    told: Type.Optional(
      Type.Object(
        {
          parts: Type.Optional(path),
          price: Type.Optional(path),
          currency: Type.Optional(path),
          network: Type.Optional(path),
        },
        closed,
      ),
    ),
    receipt: Type.Optional(receiptSchema),
    inbound: Type.Optional(inboundSchema),
  },
  closed,
);

export type Description = Static<typeof descriptionSchema>;
export type ReceiptDescription = NonNullable<Description['receipt']>;
export type InboundDescription = NonNullable<Description['inbound']>;
export type DescribedState = ReceiptOutcome | 'pending';

export interface KnownNames {
  secrets: readonly string[];
  values: readonly string[];
}

const longestDescription = 16_384;
const deepestJson = 12;

/** All that is wrong with a description. `field` is where it stands. */
export function descriptionProblems(given: unknown, field: string, known: KnownNames): FieldProblem[] {
  if (JSON.stringify(given ?? null).length > longestDescription)
    return [{ field, message: `must have at most ${longestDescription} characters as JSON` }];
  const unfit = problemsOf(descriptionSchema, given).map((problem) => ({
    field: problem.field === 'request' ? field : `${field}.${problem.field}`,
    message: problem.message,
  }));
  if (unfit.length > 0) return unfit;
  const description = given as Description;
  const told = (name: string, message: string | undefined): FieldProblem[] =>
    message === undefined ? [] : [{ field: `${field}.${name}`, message }];
  return [
    ...told('url', urlProblem(description.url, known)),
    ...templatesOf(description).flatMap(([name, each]) => told(name, templateProblem(each, known))),
    ...bodyProblems(description, told),
    ...authProblems(description.auth, told),
    ...headerProblems(description, told),
    ...pathsOf(description).flatMap(([name, each]) => told(name, pathProblem(each))),
    ...conditionProblems(description, told),
    ...afterProblems(description, told),
    ...proofProblems(description.receipt?.verify, `${field}.receipt.verify`, known),
    ...proofProblems(description.inbound?.verify, `${field}.inbound.verify`, known),
  ];
}

type Told = (name: string, message: string | undefined) => FieldProblem[];

/** The host of a request must not depend on a text. */
function urlProblem(url: string, known: KnownNames): string | undefined {
  const wrong = templateProblem(url, known);
  if (wrong !== undefined) return wrong;
  const [first, second] = readTemplate(url).pieces;
  // What follows the host must not continue it.
  if (typeof first === 'object') {
    const isBase = first.name === 'base' && first.filters.length === 0;
    const goesOn = second !== undefined && !(typeof second === 'string' && /^[/?]/.test(second));
    return isBase && !goesOn
      ? undefined
      : 'must begin with {{base}} and a slash, or with https:// and a whole host name';
  }
  const isWhole = second === undefined ? /^https?:\/\/[^/?#\s]+(?:[/?]|$)/ : /^https?:\/\/[^/?#\s]+[/?]/;
  return isWhole.test(first ?? '') && !/\s/.test(url)
    ? undefined
    : 'must begin with {{base}} and a slash, or with https:// and a whole host name';
}

/** Every template of a description but its URL, with its place. */
export function templatesOf(description: Description): [string, string][] {
  const { headers = {}, query = {}, form = {}, json, auth } = description;
  const named = (place: string, record: Record<string, string>) =>
    Object.entries(record).map(([name, value]): [string, string] => [`${place}.${name}`, value]);
  const { kind: _, name: __, ...authTexts } = auth ?? { kind: 'bearer' as const };
  return [
    ...named('headers', headers),
    ...named('query', query),
    ...named('form', form),
    ...named('auth', authTexts as Record<string, string>),
    ...textsOf(json, 'json', 0),
  ];
}

function textsOf(value: unknown, place: string, depth: number): [string, string][] {
  if (typeof value === 'string') return [[place, value]];
  if (typeof value !== 'object' || value === null || depth > deepestJson) return [];
  return Object.entries(value).flatMap(([name, each]) => textsOf(each, `${place}.${name}`, depth + 1));
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function bodyProblems({ form, json, method = 'POST', answer, separator }: Description, told: Told): FieldProblem[] {
  const has = Number(form !== undefined) + Number(json !== undefined);
  return [
    ...told('json', depthOf(json) > deepestJson ? `must be nested at most ${deepestJson} levels deep` : undefined),
    ...told('form', has > 1 ? 'must not be given together with json' : undefined),
    ...told('method', method === 'GET' && has > 0 ? 'must be POST: a GET has no form and no json' : undefined),
    ...told('separator', separator !== undefined && answer !== 'text' ? 'is only for an answer of text' : undefined),
  ];
}

const needed: Record<
  NonNullable<Description['auth']>['kind'],
  readonly ('name' | 'value' | 'user' | 'password' | 'token_url')[]
> = {
  header: ['name', 'value'],
  basic: ['user', 'password'],
  bearer: ['value'],
  query: ['name', 'value'],
  body: ['name', 'value'],
  oauth2: ['token_url', 'user', 'password'],
};

function authProblems(auth: Description['auth'], told: Told): FieldProblem[] {
  if (auth === undefined) return [];
  return [
    ...needed[auth.kind].flatMap((name) =>
      told(`auth.${name}`, auth[name] === undefined ? `is required for ${auth.kind}` : undefined),
    ),
    ...told('auth.name', auth.kind === 'header' ? headerNameProblem(auth.name ?? 'x') : undefined),
    ...told(
      'auth.token_url',
      auth.token_url === undefined ? undefined : urlProblem(auth.token_url, { secrets: [], values: [] }),
    ),
  ];
}

/** Headers that our client sets itself, or that change how the request is read. */
const ownHeaders = ['host', 'content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade', 'te', 'trailer'];

function headerNameProblem(name: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'must be the name of a header';
  return ownHeaders.includes(name.toLowerCase()) ? 'must not be a header that the connection needs itself' : undefined;
}

function headerProblems({ headers = {} }: Description, told: Told): FieldProblem[] {
  return Object.entries(headers).flatMap(([name, value]) => [
    ...told(`headers.${name}`, headerNameProblem(name)),
    ...told(`headers.${name}`, /^[\x20-\x7e]*$/.test(value) ? undefined : 'must have ASCII characters only'),
  ]);
}

function pathsOf({ id, errors = [], accepted, told = {}, receipt, inbound }: Description): [string, string][] {
  const all: [string, string | undefined][] = [
    ['id', id],
    ...accepted.map((each, index): [string, string | undefined] => [`accepted.${index}.path`, each.path]),
    ...errors.map((each, index): [string, string | undefined] => [`errors.${index}.path`, each.path]),
    ...Object.entries(told).map(([name, each]): [string, string] => [`told.${name}`, each]),
    ...callbackPaths('receipt', receipt, ['list', 'id', 'part', 'reference', 'to']),
    ['receipt.only.path', receipt?.only?.path],
    ['receipt.state.path', receipt?.state.path],
    ['receipt.error.path', receipt?.error?.path],
    ...callbackPaths('inbound', inbound, ['list', 'id', 'from', 'to', 'text']),
    ['inbound.only.path', inbound?.only?.path],
    ...callbackPaths('inbound.part', inbound?.part, ['reference', 'part', 'total']),
  ];
  return all.filter((each): each is [string, string] => each[1] !== undefined);
}

function callbackPaths(
  place: string,
  described: object | undefined,
  names: readonly string[],
): [string, string | undefined][] {
  return names.map((name) => [`${place}.${name}`, (described as Record<string, string> | undefined)?.[name]]);
}

function conditionProblems({ accepted, errors = [] }: Description, told: Told): FieldProblem[] {
  const check = (place: string) => (each: { status?: number[]; path?: string; in?: unknown[] }, index: number) => [
    ...told(
      `${place}.${index}.in`,
      each.path !== undefined && each.in === undefined ? 'is required with path' : undefined,
    ),
    ...told(
      `${place}.${index}.path`,
      each.path === undefined && each.in !== undefined ? 'is required with in' : undefined,
    ),
    ...told(
      `${place}.${index}`,
      each.path === undefined && each.status === undefined ? 'must have status or path' : undefined,
    ),
  ];
  return [...accepted.flatMap(check('accepted')), ...errors.flatMap(check('errors'))];
}

function afterProblems({ errors = [] }: Description, told: Told): FieldProblem[] {
  return errors.flatMap(({ after }, index) =>
    told(
      `errors.${index}.after`,
      after === undefined ||
        (after.startsWith('header:') ? headerNameProblem(after.slice(7)) : pathProblem(after)) === undefined
        ? undefined
        : 'must be header:<name>, or a path',
    ),
  );
}
