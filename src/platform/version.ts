import { readFileSync } from 'node:fs';
import { projectFolder } from './project-folder.ts';

/** The version of this installation. */
export function readVersion(): string {
  const file = readFileSync(new URL('package.json', projectFolder), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}
