import { isUtf8 } from 'node:buffer';
import { ApiError, type FieldProblem, invalidField } from '../../platform/errors.ts';
import { malformedJson } from '../error-reply.ts';
import { shapeProblem, textProblems } from './text-bounds.ts';

/** Largest body accepted, on every route. */
export const bodyLimit = 64 * 1024;

/** The parsed body, and its problems that do not depend on the route's schema. */
export interface ReadBody {
  value: unknown;
  problems: FieldProblem[];
}

/** `byItem` names the lists whose items the handler refuses one by one. */
export function readJson(body: Buffer, byItem: ReadonlySet<string>): ReadBody {
  if (body.length === 0) return { value: undefined, problems: [] };
  const value = parse(body);
  const problem = shapeProblem(value);
  if (problem !== undefined) throw invalidField('body', problem);
  // JSON in valid UTF-8 can hold NUL or half a surrogate pair only as an escape.
  return { value, problems: body.includes('\\u') ? textProblems(value, byItem) : [] };
}

function parse(body: Buffer): unknown {
  // JSON.parse keeps `__proto__` as an own property, and handlers read named properties only.
  if (!isUtf8(body)) throw malformedJson();
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw malformedJson();
  }
}

/** Our forms have at most six parameters. Parsing 30,000 would delay all callers by some milliseconds. */
const mostParameters = 50;
const ampersand = 0x26;
const percent = 0x25;

/** `isText`: bytes that are not UTF-8 are refused, because another text would be sent. A wrong secret may have any bytes. */
export function readForm(body: Buffer, isText = true): URLSearchParams {
  let parameters = 1;
  for (let at = body.indexOf(ampersand); at !== -1; at = body.indexOf(ampersand, at + 1)) parameters++;
  if (parameters > mostParameters)
    throw new ApiError('INVALID_ARGUMENT', `The form has more than ${mostParameters} parameters.`);
  if (isText && !(isUtf8(body) && isUtf8(percentDecoded(body))))
    throw new ApiError('INVALID_ARGUMENT', 'The form must be UTF-8, percent-encoded.');
  return new URLSearchParams(body.toString('utf8'));
}

/** The value of each hexadecimal digit; -1 for other bytes. */
const digits = new Int8Array(256).fill(-1);
for (let value = 0; value < 16; value++) {
  digits[value.toString(16).charCodeAt(0)] = value;
  digits[value.toString(16).toUpperCase().charCodeAt(0)] = value;
}

/** A loop over bytes, because a form of 64 KiB of percent signs takes an expression ten milliseconds. */
function percentDecoded(body: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(body.length);
  let length = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    const high = byte === percent ? (digits[body[at + 1] ?? 0] ?? -1) : -1;
    const low = high < 0 ? -1 : (digits[body[at + 2] ?? 0] ?? -1);
    // A percent sign that begins no byte stands for itself.
    decoded[length++] = low < 0 ? byte : high * 16 + low;
    if (low >= 0) at += 2;
  }
  return decoded.subarray(0, length);
}
