import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { invalidField } from '../platform/errors.ts';
import type { IdPrefix } from '../platform/ids.ts';
import { exampleId } from './openapi/field-examples.ts';
import { valuesKeyword } from './request/validation.ts';
import { longestParameter } from './route-table.ts';

/** An id or name in a path. */
export const pathParameter = Type.String({ maxLength: longestParameter });

/** The query of every list; each list adds its filters. */
export const pageQuery = {
  limit: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 20,
    expected: 'a whole number from 1 to 100',
    description: 'How many records a page has at most',
  }),
  cursor: Type.Optional(Type.String({ maxLength: 256, description: 'The next_cursor of the previous page' })),
} satisfies TProperties;

export interface PageRequest {
  limit: number;
  /** The last id of the previous page. */
  after: string | undefined;
}

export function readPage(query: { limit: number; cursor?: string | undefined }): PageRequest {
  if (query.cursor === undefined) return { limit: query.limit, after: undefined };
  const after = Buffer.from(query.cursor, 'base64url').toString('utf8');
  // A cursor is an encoded id; refuse anything else before it reaches a query.
  if (!/^[a-z]{3}_[0-9a-z]{26}$/.test(after)) throw invalidField('cursor', 'must be a next_cursor of this list');
  return { limit: query.limit, after };
}

/**
 * Makes a page from `limit` + 1 rows: the extra row shows that another page follows. A search that stopped before the
 * page was full names where to go on.
 */
export function toPage<Row extends { id: string }, Item>(
  rows: Row[],
  limit: number,
  toItem: (row: Row) => Item,
  searchedTo?: string,
) {
  const shown = rows.slice(0, limit);
  const after = rows.length > limit ? shown.at(-1)?.id : searchedTo;
  return {
    data: shown.map(toItem),
    next_cursor: after === undefined ? null : Buffer.from(after).toString('base64url'),
  };
}

export function pageSchema<Item extends TSchema>(item: Item) {
  const { title } = item as { title?: string };
  return Type.Object(
    {
      data: Type.Array(item),
      next_cursor: nullable(Type.String({ description: 'For the next page; null on the last one' })),
    },
    title === undefined ? {} : { title: `${title}Page` },
  );
}

/** A value or null as `{"type": ["string", "null"]}`, which serialises faster than a union. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type } = schema as unknown as { type: string };
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [type, 'null'] });
}

/** A text of an answer with the values that it has today, under a name of their own in the reference. */
export function openValues(
  title: string,
  values: readonly string[],
  { description, example = values[0] }: { description: string; example?: string | null | undefined },
) {
  return Type.String({ description, examples: [example], [valuesKeyword]: { title, values } });
}

/** The id of a record, with an example for the reference. */
export function recordId(prefix: IdPrefix, description = 'Its id') {
  return Type.String({ description, examples: [exampleId(prefix)] });
}
