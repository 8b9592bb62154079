import { readFile, stat } from 'node:fs/promises';
import { StartError } from '../../platform/errors.ts';
import { isObject } from '../../platform/is-object.ts';
import type { Problems } from './problems.ts';

/** The lists of a file, in the order in which they are applied. */
export const listNames = ['plans', 'carriers', 'applications', 'routes', 'senders', 'numbers'] as const;
export type ListName = (typeof listNames)[number];

/** A parsed file: its lists are within their bounds, and nothing else of it is checked. */
export interface DeclaredFile {
  guard: unknown;
  lists: Partial<Record<ListName, unknown[]>>;
}

const largestFile = 4 * 1024 * 1024;
const mostEntries = 10_000;
const deepest = 30;

/** Reads a file of declared configuration. A section that it does not have is undefined. */
export async function readDeclaredFile(path: string, problems: Problems): Promise<DeclaredFile> {
  const file = await readJsonFile(path);
  if (!isObject(file)) throw new StartError(`${path} must hold a JSON object, such as {"carriers": []}.`);
  if (isDeeper(file, deepest)) throw new StartError(`${path} must not be nested deeper than ${deepest} levels.`);
  const lists: DeclaredFile['lists'] = {};
  const sections: readonly string[] = [...listNames, 'guard'];
  for (const [name, value] of Object.entries(file)) {
    if (name === '$schema') continue;
    if (!sections.includes(name))
      problems.add(shortened(name), `is not known here: a file may have ${sections.join(', ')}`);
    else if (name === 'guard') continue;
    else if (!Array.isArray(value)) problems.add(name, 'must be a list');
    else if (value.length > mostEntries) problems.add(name, `must have at most ${mostEntries} entries`);
    else lists[name as ListName] = value;
  }
  return { guard: file.guard, lists };
}

async function readJsonFile(path: string): Promise<unknown> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`The file ${path} cannot be read${error.code === 'ENOENT' ? ': there is none' : ''}.`);
  });
  if (!found.isFile()) throw new StartError(`${path} is not a file.`);
  if (found.size > largestFile) throw new StartError(`The file ${path} is larger than 4 MiB.`);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`The file ${path} cannot be read (${error.code}).`);
  });
  try {
    // Editors on Windows write a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new StartError(`The file ${path} is not JSON: ${(error as Error).message}`);
  }
}

/** Checks level by level: recursion would overflow the stack on deep values. */
function isDeeper(value: unknown, most: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= most; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
    if (level.length === 0) return false;
  }
  return true;
}

export function shortened(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 64)}…`;
}
