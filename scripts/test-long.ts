// The full size of every proof that `npm test` gives in short: all files of these folders, and all that have a long form.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { leadsTo } from './system-needs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['test/faults/', 'test/cluster/', 'test/races/', 'test/hostile/'];

process.env.HELIOGRAPH_TEST_LONG = '1';
if (process.argv.length === 2) {
  const files = ['src', 'test']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name))))
    .filter((name) => name.endsWith('.test.ts'));
  process.argv.push(...folders, ...files.filter((file) => leadsTo(file, 'test/support/effort.ts')));
}
await import('./test.ts');
