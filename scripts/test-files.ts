// Which test files there are, and what each of them needs: found by its imports, so no list has to be kept.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Files named `*.long-test.ts` have no short form. */
const isLong = process.env.HELIOGRAPH_TEST_LONG === '1';

/** The test files whose path contains one of these parts; all of them without a part. */
export function findTestFiles(parts: string[]): string[] {
  return ['src', 'cli/src', 'portal/src', 'bench', 'test']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name))))
    .filter((name) => (isLong ? /\.(?:long-)?test\.tsx?$/ : /\.test\.tsx?$/).test(name))
    .filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)));
}

/** A test beside its source is pure: it needs neither a build nor a database (test/structure.test.ts checks that). */
export function isUnitTest(file: string): boolean {
  return !file.startsWith('test/');
}

/** In bytes. */
export function lengthOf(file: string): number {
  return statSync(join(root, file), { throwIfNoEntry: false })?.size ?? 0;
}

export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** A test file that imports one of these files needs what stands beside it. */
const support = {
  postgres: ['test/support/database.ts'],
  // `npm start` builds the portal as well, and a build the client.
  build: [
    'test/support/service.ts',
    'test/support/built-portal.ts',
    'test/support/client.ts',
    'test/support/guide-receivers.ts',
    'test/support/integration-samples.ts',
  ],
};

export type Need = keyof typeof support;

/** What the runner has to provide for these files. Programs of the system are in system-needs.ts. */
export function needsOf(files: string[]): Set<Need> {
  const needs = Object.keys(support) as Need[];
  return new Set(needs.filter((need) => files.some((file) => support[need].some((used) => dependsOn(file, used)))));
}

/** Whether a test file has properties, which fast-check tries with random values. */
export function hasProperties(file: string): boolean {
  const suite = 'test/support/limiter-suite.ts';
  return textOf(file).includes("from 'fast-check'") || dependsOn(file, suite);
}

/** Whether a file imports the other one, directly or through others. */
export function dependsOn(file: string, other: string): boolean {
  return reachable(file, byImport).has(other);
}

/** The same, where a script that the file starts counts as imported. */
export function leadsTo(file: string, other: string): boolean {
  return reachable(file, byImportOrStart).has(other);
}

/** Which files each file names, and which it reaches: hundreds of test files ask about the same hundreds of sources. */
interface Graph {
  namesIn(text: string): string[];
  next: Map<string, string[]>;
  reached: Map<string, Set<string>>;
}

const byImport: Graph = { namesIn: importedBy, next: new Map(), reached: new Map() };
const byImportOrStart: Graph = {
  namesIn: (text) => [...importedBy(text), ...startedBy(text)],
  next: new Map(),
  reached: new Map(),
};

function reachable(file: string, graph: Graph): Set<string> {
  const known = graph.reached.get(file);
  if (known !== undefined) return known;
  const reached = new Set([file]);
  for (const each of reached) for (const name of namedBy(each, graph)) reached.add(name);
  graph.reached.set(file, reached);
  return reached;
}

function namedBy(file: string, { namesIn, next }: Graph): string[] {
  const known = next.get(file);
  if (known !== undefined) return known;
  const text = existsSync(join(root, file)) ? textOf(file) : '';
  const names = namesIn(text).map((name) => resolveName(file, name));
  next.set(file, names);
  return names;
}

/** Imports of types alone are gone when the file runs. */
function importedBy(text: string): string[] {
  const running = text.replaceAll(/^(import|export) type [^;]*;/gm, '');
  return [...running.matchAll(/'(\.\.?\/[^']+\.tsx?)'/g)].map(([, name = '']) => name);
}

function startedBy(text: string): string[] {
  return [...text.matchAll(/'(scripts\/[^']+\.ts)'/g)].map(([, name = '']) => name);
}

function resolveName(file: string, name: string): string {
  return name.startsWith('.') ? resolve('/', dirname(file), name).slice(1) : name;
}
