// Runs several test files in one process, each as a suite of its own, so that its hooks stay its own.
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) describe(nameOf(file), () => import(pathToFileURL(file).href));

function nameOf(file: string): string {
  return file.replace(/^.*\/compiled\//, '').replace(/\.js$/, '.ts');
}
