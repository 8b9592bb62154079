// Which test files there are, and what each of them needs: found by its imports, so no list has to be kept.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The test files whose path contains one of these parts; all of them without a part. */
export function findTestFiles(parts: string[]): string[] {
  return ['src', 'portal/src', 'test']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name))))
    .filter((name) => /\.test\.tsx?$/.test(name))
    .filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)));
}

/** A test beside its source is pure: it needs neither a build nor a database (test/structure.test.ts checks that). */
export function isUnitTest(file: string): boolean {
  return !file.startsWith('test/');
}

/** In bytes. */
export function lengthOf(file: string): number {
  return statSync(join(root, file)).size;
}

/** A test file that imports one of these files needs what stands beside it. */
const support = {
  postgres: ['test/support/database.ts'],
  // `npm start` builds the portal as well.
  build: ['test/support/service.ts', 'test/support/built-portal.ts'],
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
  return readFileSync(join(root, file), 'utf8').includes("from 'fast-check'") || dependsOn(file, suite);
}

/** Whether a file imports the other one, directly or through others. */
export function dependsOn(file: string, other: string): boolean {
  return reaches(file, other, importedBy, new Set());
}

/** The same, where a script that the file starts counts as imported. */
export function leadsTo(file: string, other: string): boolean {
  return reaches(file, other, (text) => [...importedBy(text), ...startedBy(text)], new Set());
}

function reaches(file: string, other: string, namesIn: (text: string) => string[], seen: Set<string>): boolean {
  if (file === other) return true;
  if (seen.has(file) || !existsSync(join(root, file))) return false;
  seen.add(file);
  const text = readFileSync(join(root, file), 'utf8');
  return namesIn(text).some((name) => reaches(resolveName(file, name), other, namesIn, seen));
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
