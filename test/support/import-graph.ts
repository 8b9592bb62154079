import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export interface SourceFile {
  /** Below the folder that was read, like `platform/clock.ts`. */
  name: string;
  text: string;
  /** As written. */
  imports: string[];
  /** The imports of our own files, as names below the folder; those outside of it begin with `..`. */
  ownImports: string[];
}

/** The rooms of a folder, and what each may import. A name stands for all rooms below it. */
export type Rooms = Readonly<Record<string, readonly string[]>>;

export function readSources(folder: string): SourceFile[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => String(name).replaceAll('\\', '/'))
    .filter((name) => /\.tsx?$/.test(name) && !/\.(?:test\.tsx?|d\.ts)$/.test(name))
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      const imports = importsOf(text);
      const ownImports = imports
        .filter((path) => path.startsWith('.'))
        .map((path) => relative(folder, resolve(folder, dirname(name), path)))
        // The client's sources import each other by the names that they have when built.
        .map((path) => path.replace(/\.js$/, '.ts'));
      return { name, text, imports, ownImports };
    });
}

function importsOf(text: string): string[] {
  const patterns = [/\bfrom\s+'([^']+)'/g, /\bimport\s+'([^']+)'/g, /\bimport\(\s*'([^']+)'/g];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, path]) => path ?? ''));
}

/** The longest name in the table that the file lies below, or its first folder; undefined beside the folders. */
export function roomOf(name: string, rooms: Rooms): string | undefined {
  const holding = Object.keys(rooms).filter((room) => name === room || name.startsWith(`${room}/`));
  const [longest] = holding.sort((one, other) => other.length - one.length);
  return longest ?? (name.includes('/') ? name.split('/')[0] : undefined);
}

/** The imports between rooms that the table does not allow. Files beside the folders may import everything. */
export function forbiddenImports(files: readonly SourceFile[], rooms: Rooms, exempt: readonly string[] = []): string[] {
  return files.flatMap(({ name, ownImports }) => {
    const room = roomOf(name, rooms);
    if (room === undefined || exempt.includes(room)) return [];
    const allowed = [room, ...(rooms[room] ?? [])];
    const isAllowed = (target = '') => allowed.some((each) => target === each || target.startsWith(`${each}/`));
    return ownImports
      .filter((target) => !target.startsWith('..') && !isAllowed(roomOf(target, rooms)))
      .map((target) => `${name} imports ${target}`);
  });
}

export function crowdedFolders(files: readonly SourceFile[], most: number): [folder: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { name } of files) counts.set(dirname(name), (counts.get(dirname(name)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > most);
}

/** Which room imports which other. */
export function roomImports(files: readonly SourceFile[], rooms: Rooms): Map<string, Set<string>> {
  const imported = new Map<string, Set<string>>();
  for (const { name, ownImports } of files) {
    const room = roomOf(name, rooms);
    if (room === undefined) continue;
    const targets = imported.get(room) ?? new Set();
    for (const target of ownImports) targets.add(roomOf(target, rooms) ?? '');
    targets.delete(room);
    imported.set(room, targets);
  }
  return imported;
}

export function fileImports(files: readonly SourceFile[]): Map<string, Set<string>> {
  return new Map(files.map(({ name, ownImports }) => [name, new Set(ownImports)]));
}

export function assertNoCircle(imported: ReadonlyMap<string, ReadonlySet<string>>): void {
  const done = new Set<string>();
  const visit = (name: string, path: string[]): void => {
    if (path.includes(name)) assert.fail(`a circle: ${[...path.slice(path.indexOf(name)), name].join(' → ')}`);
    if (done.has(name)) return;
    for (const target of imported.get(name) ?? []) visit(target, [...path, name]);
    done.add(name);
  };
  for (const name of imported.keys()) visit(name, []);
}
