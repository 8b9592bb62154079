import { isUtf8 } from 'node:buffer';
import { ApiError } from '../platform/errors.ts';
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

/** The forms we read have six parameters at most. Reading 30,000 of them would hold everybody up for some milliseconds. */
const mostParameters = 50;
const ampersand = 0x26;

export function readForm(body: Buffer): URLSearchParams {
  let parameters = 1;
  for (const byte of body) if (byte === ampersand) parameters++;
  if (parameters > mostParameters)
    throw new ApiError('INVALID_ARGUMENT', `The form has more than ${mostParameters} parameters.`);
  return new URLSearchParams(body.toString('utf8'));
}
