import { readFileSync } from 'node:fs';

/** This file is two levels below the project's folder, both as source and when built. */
export const projectFolder = new URL('../../', import.meta.url);

export function readVersion(): string {
  const file = readFileSync(new URL('package.json', projectFolder), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}

export const userAgent = `heliograph-cli/${readVersion()} node/${process.versions.node}`;
