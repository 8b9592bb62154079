import type { IncomingHttpHeaders } from 'node:http';

/** The beginning of what an endpoint answered. */
export interface ReceivedAnswer {
  headers: [name: string, value: string][];
  /** The first 2 kB. */
  body: Buffer;
  /** Whether the body was longer. */
  isCut: boolean;
}

export const longestKept = 2048;
const mostHeaders = 50;
const longestName = 128;
const longestValue = 512;

/** The headers that are kept of an answer, bounded. Postgres stores no NUL. */
export function keptHeaders(headers: IncomingHttpHeaders): ReceivedAnswer['headers'] {
  return Object.entries(headers)
    .flatMap(([name, value]) => [value ?? []].flat().map((each): [string, string] => [name, each]))
    .slice(0, mostHeaders)
    .map(([name, value]) => [storable(name, longestName), storable(value, longestValue)]);
}

function storable(text: string, longest: number): string {
  return text.slice(0, longest).replaceAll('\0', '\ufffd').toWellFormed();
}
