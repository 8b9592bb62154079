// Writes what is made from the code: .env.example, docs/settings.md, docs/routes.md and the types of the Python client.
//   npm run docs              writes them
//   npm run docs -- --check   names those that differ, and exits with 1
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pythonTypes } from './docs/python-types.ts';
import { routesDocument } from './docs/routes.ts';
import { envExample, settingsDocument } from './docs/settings.ts';

const made: [string, (written: string) => string][] = [
  ['.env.example', envExample],
  ['docs/settings.md', settingsDocument],
  ['docs/routes.md', routesDocument],
  ['clients/python/src/heliograph/types.py', pythonTypes],
];
const differing = made.filter(([name, make]) => {
  const file = new URL(`../${name}`, import.meta.url);
  const written = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const made = make(written);
  if (made === written) return false;
  if (!process.argv.includes('--check')) writeFileSync(file, made);
  return true;
});
const names = differing.map(([name]) => name).join(', ');
if (names !== '') console.log(process.argv.includes('--check') ? `Run npm run docs: ${names}` : `Written: ${names}`);
// The app that the routes come from has timers.
process.exit(names !== '' && process.argv.includes('--check') ? 1 : 0);
