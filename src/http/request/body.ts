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

function percentDecoded(body: Buffer): Buffer {
  if (!body.includes(percent)) return body;
  const decoded = body
    .toString('latin1')
    .replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(decoded, 'latin1');
}
