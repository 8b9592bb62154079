import type { FieldProblem } from '../../platform/errors.ts';

/** Schemas allow unknown properties, so these three limit how much of a body we check. */
const deepest = 16;
const mostProperties = 100;
const mostValues = 5000;

const mostProblems = 100;
const longestShownName = 64;

/** JSON Schema counts code points; a code point is one or two UTF-16 units. */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false;
  return text.length > 2 * most || [...text].length > most;
}

/** Why a body is too deep or too wide, as the end of a sentence that starts with "body". */
export function shapeProblem(body: unknown): string | undefined {
  let values = 0;
  let level: object[] = isObject(body) ? [body] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepest) return `must be nested at most ${deepest} levels deep`;
    const below: object[] = [];
    for (const parent of level) {
      const children: unknown[] = Array.isArray(parent) ? parent : Object.values(parent);
      if (children !== parent && children.length > mostProperties)
        return `must have at most ${mostProperties} properties in each object`;
      values += children.length;
      if (values > mostValues) return `must have at most ${mostValues} values in all`;
      for (const child of children) if (isObject(child)) below.push(child);
    }
    level = below;
  }
  return undefined;
}

/**
 * Finds texts and names that Postgres cannot store: NUL or half a surrogate pair. Skips the items of lists in `byItem`,
 * which the handler refuses one by one.
 */
export function textProblems(value: unknown, byItem: ReadonlySet<string> = new Set()): FieldProblem[] {
  const problems: FieldProblem[] = [];

  function visit(child: unknown, path: string[]): void {
    if (problems.length >= mostProblems) return;
    if (typeof child === 'string') {
      const found = unstorable(child);
      if (found !== undefined) problems.push({ field: fieldOf(path), message: `must not contain ${found}` });
    } else if (isObject(child)) {
      for (const [name, entry] of Object.entries(child)) visitEntry(name, entry, [...path, name]);
    }
  }

  function visitEntry(name: string, entry: unknown, path: string[]): void {
    if (problems.length >= mostProblems) return;
    const found = unstorable(name);
    if (found !== undefined) problems.push({ field: fieldOf(path), message: `must have a name without ${found}` });
    if (path.length > 1 || !byItem.has(name)) visit(entry, path);
  }

  visit(value, []);
  return problems;
}

function fieldOf(path: string[]): string {
  return path.map(shownName).join('.') || 'body';
}

/** The forbidden character in a text, described. */
export function unstorable(text: string): string | undefined {
  if (text.includes('\0')) return 'a NUL character';
  return text.isWellFormed() ? undefined : 'an unpaired surrogate';
}

/** Shortens and cleans a caller's property name for the answer and the trace. */
export function shownName(name: string): string {
  return name.slice(0, longestShownName).toWellFormed().replaceAll('\0', '\ufffd');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
