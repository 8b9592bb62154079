// The table of cases that the clients of all languages share.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const clientsFolder = fileURLToPath(new URL('../../clients', import.meta.url));

export function readCases<Table>(name: string): Table {
  return JSON.parse(readFileSync(`${clientsFolder}/cases/${name}.json`, 'utf8')) as Table;
}
