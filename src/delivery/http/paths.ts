// Tests: src/delivery/http/presets/presets.test.ts
/** A provider's document is walked no deeper than this. */
const deepest = 16;
/** Meta puts up to 1,000 reports into one callback. */
const mostFound = 1000;

/**
 * Finds values in a provider's answer or callback by a path: names and indexes with dots between them, `*` for every
 * entry of a list. `jsonstring:data.0.id` reads the text at `data` as JSON first.
 */
export function findAll(document: unknown, path: string): unknown[] {
  if (path.startsWith('jsonstring:')) {
    const [name = '', ...rest] = path.slice('jsonstring:'.length).split('.');
    const [inner] = walk([document], [name]);
    const parsed = typeof inner === 'string' ? parseJson(inner) : undefined;
    return parsed === undefined ? [] : walk([parsed], rest);
  }
  return path === '' ? [document] : walk([document], path.split('.'));
}

/** The first text, number or boolean at a path, as text. `|` separates several paths: the first with a value counts. */
export function findText(document: unknown, path: string | undefined): string | undefined {
  for (const one of path?.split('|') ?? []) {
    const found = findAll(document, one).find((value) => value !== null && typeof value !== 'object');
    if (found !== undefined) return String(found);
  }
  return undefined;
}

function walk(from: unknown[], names: readonly string[]): unknown[] {
  let values = from;
  for (const name of names.slice(0, deepest)) {
    values = values.flatMap((value) => step(value, name)).slice(0, mostFound);
  }
  return values;
}

function step(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    if (name === '*') return value;
    return /^\d{1,4}$/.test(name) && Number(name) < value.length ? [value[Number(name)]] : [];
  }
  return Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : [];
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const rightPath = /^(?:jsonstring:)?[^\s.]{1,64}(?:\.[^\s.]{1,64}){0,15}$/;

/** Why a text is no path (completes a sentence that begins with its field), or undefined. */
export function pathProblem(path: string): string | undefined {
  return rightPath.test(path)
    ? undefined
    : 'must be a path like messages.0.status, of up to 16 names with dots between';
}
