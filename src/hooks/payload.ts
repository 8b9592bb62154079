import { isUtf8 } from 'node:buffer';
import type { FieldProblem } from '../platform/errors.ts';
import { codePattern } from '../verify/start/rules.ts';
import { type Hook, type HookPointers, pointerNames } from './hook.ts';
import { kindRules } from './kinds.ts';
import { readPointer, shownPointer, type ValuePath, valueAt } from './pointer.ts';

/** The request in a payload: a code, or a text without one. */
export interface HookPayload {
  to: string;
  code: string | undefined;
  text: string | undefined;
  locale: string | undefined;
  ip: string | undefined;
}

/** A field of ours with its name at the server, for messages. */
export type FieldNames = Record<keyof HookPointers, string>;

type PathsOf = Record<keyof HookPointers, readonly ValuePath[]>;

/** Cached, because a hook is read once and takes many calls. */
const knownPaths = new WeakMap<Pick<Hook, 'kind' | 'pointers'>, PathsOf>();

/** The pointers of a hook by field; its own replace those of its kind. */
function pointersOf({
  kind,
  pointers,
}: Pick<Hook, 'kind' | 'pointers'>): Record<keyof HookPointers, readonly string[]> {
  const known = kindRules[kind].pointers;
  const of = (name: keyof HookPointers) => {
    const own = pointers?.[name];
    return own === undefined ? (known[name] ?? []) : [own];
  };
  return { to: of('to'), code: of('code'), text: of('text'), locale: of('locale'), ip: of('ip') };
}

function pathsOf(hook: Pick<Hook, 'kind' | 'pointers'>): PathsOf {
  const known = knownPaths.get(hook);
  if (known !== undefined) return known;
  const pointers = pointersOf(hook);
  const of = (name: keyof HookPointers) => pointers[name].map(readPointer);
  const paths = { to: of('to'), code: of('code'), text: of('text'), locale: of('locale'), ip: of('ip') };
  knownPaths.set(hook, paths);
  return paths;
}

/** The fields that payloads of a hook can have. */
export function fieldsOf(hook: Pick<Hook, 'kind' | 'pointers'>): Set<string> {
  return new Set(Object.entries(pointersOf(hook)).flatMap(([name, all]) => (all.length > 0 ? [name] : [])));
}

/** What is missing in the pointers of a hook: without these it could take no payload. */
export function pointerProblems(hook: Pick<Hook, 'kind' | 'pointers'>): FieldProblem[] {
  const has = fieldsOf(hook);
  const problems: FieldProblem[] = [];
  if (!has.has('to')) problems.push({ field: 'pointers.to', message: 'is required: where the payload has the number' });
  if (!has.has('code') && !has.has('text'))
    problems.push({ field: 'pointers.code', message: 'or pointers.text is required' });
  return problems;
}

/** The last of a field's names, for error messages: every payload of the server has that one. */
export function fieldNames(hook: Pick<Hook, 'kind' | 'pointers'>): FieldNames {
  const pointers = pointersOf(hook);
  const nameOf = (name: keyof HookPointers) => shownPointer(pointers[name].at(-1) ?? `/${name}`);
  return Object.fromEntries(pointerNames.map((name) => [name, nameOf(name)])) as FieldNames;
}

const codeForm = new RegExp(codePattern);

/**
 * Reads a server's payload. The problem names the server's own field. ZITADEL puts letters into some codes by default;
 * they go out in the server's own text, if the hook has a sender.
 */
export function readPayload(hook: Pick<Hook, 'kind' | 'pointers' | 'from'>, body: Buffer): HookPayload | FieldProblem {
  const payload = parse(body);
  if (typeof payload !== 'object' || payload === null) return { field: 'body', message: 'must be a JSON object' };
  const paths = pathsOf(hook);
  const find = (name: keyof HookPointers): string | undefined => {
    for (const path of paths[name]) {
      const value = valueAt(payload, path);
      if (typeof value === 'string' && value !== '') return value;
      if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
    }
    return undefined;
  };
  const [to, code, text, locale, ip] = [find('to'), find('code'), find('text'), find('locale'), find('ip')];
  if (to === undefined) return { field: fieldNames(hook).to, message: 'is missing: it must be the number' };
  if (code === undefined && text === undefined) return nothingToSend(hook);
  const isInText = code !== undefined && !codeForm.test(code) && text !== undefined && hook.from !== null;
  return { to: withPlus(to), code: isInText ? undefined : code, text, locale, ip };
}

function nothingToSend(hook: Pick<Hook, 'kind' | 'pointers'>): FieldProblem {
  const names = fieldNames(hook);
  return fieldsOf(hook).has('text')
    ? { field: names.code, message: `and ${names.text} are missing: one of them must be there` }
    : { field: names.code, message: 'is missing: it must be the code' };
}

function parse(body: Buffer): unknown {
  if (!isUtf8(body)) return undefined;
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** Supabase writes numbers without a plus. */
function withPlus(to: string): string {
  return /^[1-9][0-9]{6,14}$/.test(to) ? `+${to}` : to;
}
