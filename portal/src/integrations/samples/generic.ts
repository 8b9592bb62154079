import type { Pointers } from '../pointers.ts';
import { samplePayload } from './payload.ts';

/** A call as the server would make it, for a shell. */
export function genericSample(url: string, secret: string, pointers: Pointers | null): string {
  const body = JSON.stringify(samplePayload(pointers ?? {}));
  return [
    `curl -i ${url}`,
    `-H 'Authorization: Bearer ${secret}'`,
    "-H 'Content-Type: application/json'",
    `-d '${body.replaceAll("'", "'\\''")}'`,
  ].join(' \\\n  ');
}
