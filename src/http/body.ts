import { isUtf8 } from 'node:buffer';
import { malformedJson } from './error-reply.ts';

/** The largest body that is read, on every route. */
export const bodyLimit = 64 * 1024;

export function readJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  // JSON.parse keeps `__proto__` as a plain own property, and handlers read named properties only.
  if (!isUtf8(body)) throw malformedJson();
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw malformedJson();
  }
}

export function readForm(body: Buffer): URLSearchParams {
  return new URLSearchParams(body.toString('utf8'));
}
