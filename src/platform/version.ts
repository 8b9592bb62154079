import { readFileSync } from 'node:fs';

/** The version of this installation. The path is the same from here and from what is built. */
export function readVersion(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}
