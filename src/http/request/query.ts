import { parse } from 'node:querystring';
import type { TObject } from 'typebox';
import { ApiError, type FieldProblem } from '../../platform/errors.ts';

/** More than any list has. The query string shares the 16 KiB limit of the headers. */
const mostParameters = 50;

/** Decimal digits, few enough for an exact number. */
const wholeNumber = /^(?:0|[1-9][0-9]{0,14})$/;

export interface ReadQuery {
  value: Record<string, unknown>;
  problems: FieldProblem[];
}

/**
 * Reads a query by its schema. All values arrive as text; text that is not a plain number stays text, and validation
 * refuses it.
 */
export function createQueryReader(schema: TObject): (target: string) => ReadQuery {
  const types = Object.entries(schema.properties).map(([name, property]) => [name, typeOf(property)] as const);

  return (target) => {
    const value = parametersOf(target);
    const problems: FieldProblem[] = [];
    for (const [name, type] of types) {
      const sent = value[name];
      if (Array.isArray(sent)) problems.push({ field: name, message: 'must be given once' });
      else if (typeof sent !== 'string') continue;
      else if (sent.includes('\0')) problems.push({ field: name, message: 'must not contain a NUL character' });
      else if (type === 'integer' && wholeNumber.test(sent)) value[name] = Number(sent);
      else if (type === 'boolean' && (sent === 'true' || sent === 'false')) value[name] = sent === 'true';
    }
    return { value, problems };
  };
}

function parametersOf(target: string): Record<string, unknown> {
  const start = target.indexOf('?');
  if (start === -1) return {};
  const fragment = target.indexOf('#', start);
  const query = target.slice(start + 1, fragment === -1 ? undefined : fragment);
  const value = parse(query, '&', '=', { maxKeys: mostParameters + 1 });
  if (Object.values(value).flat().length <= mostParameters) return value;
  throw new ApiError('INVALID_ARGUMENT', `The query has more than ${mostParameters} parameters.`, {
    details: [{ field: 'query', message: `must have at most ${mostParameters} parameters` }],
  });
}

function typeOf(property: unknown): unknown {
  return (property as { type?: unknown }).type;
}
