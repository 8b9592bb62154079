// Tests: src/delivery/http/settings.test.ts
import { problemsOf } from '../../http/request/validation.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { inboundProof, proofProblems } from './callbacks/proof-settings.ts';
import { type Description, descriptionSchema, type FormValue } from './description.ts';
import { pathProblem } from './paths.ts';
import { readTemplate, templateProblem } from './template.ts';

export interface KnownNames {
  secrets: readonly string[];
  values: readonly string[];
}

const longestDescription = 16_384;
const deepestJson = 12;

/** All problems of a description. `field` is its name in the settings. */
export function descriptionProblems(given: unknown, field: string, known: KnownNames): FieldProblem[] {
  if (JSON.stringify(given ?? null).length > longestDescription)
    return [{ field, message: `must have at most ${longestDescription} characters as JSON` }];
  const unfit = problemsOf(descriptionSchema, given).map((problem) => ({
    field: problem.field === 'request' ? field : `${field}.${problem.field}`,
    message: problem.message,
  }));
  if (unfit.length > 0) return unfit;
  const description = given as Description;
  const toProblems = (name: string, message: string | undefined): FieldProblem[] =>
    message === undefined ? [] : [{ field: `${field}.${name}`, message }];
  return [
    ...toProblems('url', urlProblem(description.url, known)),
    ...templatesOf(description).flatMap(([name, each]) => toProblems(name, templateProblem(each, known))),
    ...bodyProblems(description, toProblems),
    ...authProblems(description.auth, toProblems),
    ...headerProblems(description, toProblems),
    ...pathsOf(description).flatMap(([name, each]) => toProblems(name, pathProblem(each))),
    ...conditionProblems(description, toProblems),
    ...afterProblems(description, toProblems),
    ...proofProblems(description.receipt?.verify, `${field}.receipt.verify`, known),
    ...proofProblems(description.inbound?.verify, `${field}.inbound.verify`, known),
    ...toProblems('inbound.verify.kind', inboundProofProblem(description)),
    ...toProblems('languages', languagesProblem(description)),
    ...toProblems('receipt.handshake.secret', handshakeProblem(description, known)),
  ];
}

/** A text in a language that the provider does not have is written, or spoken, in English. */
function languagesProblem({ languages }: Description): string | undefined {
  return languages === undefined || Object.hasOwn(languages, 'en')
    ? undefined
    : 'must have en: texts in a language that is missing are sent in English';
}

function handshakeProblem({ receipt }: Description, { secrets }: KnownNames): string | undefined {
  const { handshake } = receipt ?? {};
  return handshake === undefined || secrets.includes(handshake.secret)
    ? undefined
    : 'must be the name of an entry in secrets';
}

type ToProblems = (name: string, message: string | undefined) => FieldProblem[];

/** The host of a request must not depend on a text. */
function urlProblem(url: string, known: KnownNames): string | undefined {
  const wrong = templateProblem(url, known);
  if (wrong !== undefined) return wrong;
  const [first, second] = readTemplate(url).pieces;
  // The text after the host must not continue the host.
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

/** Every template of a description except its URL, with its field. */
export function templatesOf(description: Description): [string, string][] {
  const { headers = {}, query = {}, form = {}, json, auth } = description;
  const named = (field: string, record: Record<string, FormValue>) =>
    Object.entries(record).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [`${field}.${name}`, each]),
    );
  const { kind: _, name: __, ...authTexts } = auth ?? { kind: 'bearer' as const };
  return [
    ...named('headers', headers),
    ...named('query', query),
    ...named('form', form),
    ...named('auth', authTexts as Record<string, string>),
    ...textsOf(json, 'json', 0),
  ];
}

function textsOf(value: unknown, field: string, depth: number): [string, string][] {
  if (typeof value === 'string') return [[field, value]];
  if (typeof value !== 'object' || value === null || depth > deepestJson) return [];
  return Object.entries(value).flatMap(([name, each]) => textsOf(each, `${field}.${name}`, depth + 1));
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function bodyProblems(
  { form, json, method = 'POST', answer, separator }: Description,
  toProblems: ToProblems,
): FieldProblem[] {
  const has = Number(form !== undefined) + Number(json !== undefined);
  return [
    ...toProblems(
      'json',
      depthOf(json) > deepestJson ? `must be nested at most ${deepestJson} levels deep` : undefined,
    ),
    ...toProblems('form', has > 1 ? 'must not be given together with json' : undefined),
    ...toProblems('method', method === 'GET' && has > 0 ? 'must be POST: a GET has no form and no json' : undefined),
    ...toProblems(
      'separator',
      separator !== undefined && answer !== 'text' ? 'is allowed only where answer is text' : undefined,
    ),
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
  'jwt-rs256': ['name', 'value', 'password'],
};

function authProblems(auth: Description['auth'], toProblems: ToProblems): FieldProblem[] {
  if (auth === undefined) return [];
  return [
    ...needed[auth.kind].flatMap((name) =>
      toProblems(`auth.${name}`, auth[name] === undefined ? `is required for ${auth.kind}` : undefined),
    ),
    ...toProblems('auth.name', auth.kind === 'header' ? headerNameProblem(auth.name ?? 'x') : undefined),
    ...toProblems(
      'auth.token_url',
      auth.token_url === undefined ? undefined : urlProblem(auth.token_url, { secrets: [], values: [] }),
    ),
  ];
}

function inboundProofProblem({ inbound }: Description): string | undefined {
  if (inbound === undefined || inboundProof(inbound.verify).kind === inbound.verify.kind) return undefined;
  return 'must be plivo-v3: the signature of plivo-v2 does not cover the text';
}

/** Headers that our client sets itself, or that change how the request is read. */
const ownHeaders = ['host', 'content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade', 'te', 'trailer'];

function headerNameProblem(name: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'must be the name of a header';
  return ownHeaders.includes(name.toLowerCase()) ? 'must not be a header that the connection needs itself' : undefined;
}

function headerProblems({ headers = {} }: Description, toProblems: ToProblems): FieldProblem[] {
  return Object.entries(headers).flatMap(([name, value]) => [
    ...toProblems(`headers.${name}`, headerNameProblem(name)),
    ...toProblems(`headers.${name}`, /^[\x20-\x7e]*$/.test(value) ? undefined : 'must have ASCII characters only'),
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
  field: string,
  described: object | undefined,
  names: readonly string[],
): [string, string | undefined][] {
  return names.map((name) => [`${field}.${name}`, (described as Record<string, string> | undefined)?.[name]]);
}

function conditionProblems({ accepted, errors = [] }: Description, toProblems: ToProblems): FieldProblem[] {
  const check = (field: string) => (each: { status?: number[]; path?: string; in?: unknown[] }, index: number) => [
    ...toProblems(
      `${field}.${index}.in`,
      each.path !== undefined && each.in === undefined ? 'is required where path is given' : undefined,
    ),
    ...toProblems(
      `${field}.${index}.path`,
      each.path === undefined && each.in !== undefined ? 'is required where in is given' : undefined,
    ),
    ...toProblems(
      `${field}.${index}`,
      each.path === undefined && each.status === undefined ? 'must have status or path' : undefined,
    ),
  ];
  return [...accepted.flatMap(check('accepted')), ...errors.flatMap(check('errors'))];
}

function afterProblems({ errors = [] }: Description, toProblems: ToProblems): FieldProblem[] {
  return errors.flatMap(({ after }, index) =>
    toProblems(
      `errors.${index}.after`,
      after === undefined ||
        (after.startsWith('header:') ? headerNameProblem(after.slice(7)) : pathProblem(after)) === undefined
        ? undefined
        : 'must be header:<name>, or a path',
    ),
  );
}
