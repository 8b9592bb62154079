// Runs several test files in one process.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const files = process.argv.slice(2);
let imported = 0;
process.on('exit', () => {
  if (imported < files.length) throw new Error(`The process ended before it came to ${files[imported]}.`);
});
for (const file of files) {
  await import(pathToFileURL(resolve(file)).href);
  imported += 1;
}
