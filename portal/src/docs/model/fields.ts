import { follow, type OpenApi, type Schema } from './openapi.ts';

/** A parameter or a property, in words. */
export interface Field {
  name: string;
  /** Like `string`, `list of objects` or `integer or null`. */
  type: string;
  required: boolean;
  description: string;
  /** Like `1 to 100` or `at most 32 characters`. */
  bounds: string[];
  pattern: string | undefined;
  /** The values that are allowed. */
  values: string[];
  default: string | undefined;
  /** The fields of an object, or of the objects in a list. */
  fields: Field[];
}

/** No schema of ours is deeper. This ends a circular schema. */
const deepest = 6;

export function fieldOf(document: OpenApi, name: string, given: Schema, required: boolean, depth = 0): Field {
  const { schema, isNullable } = withoutNull(document, given);
  const values = valuesOf(document, schema);
  return {
    name,
    type: `${typeOf(document, schema)}${isNullable ? ' or null' : ''}`,
    required,
    description: sentence(given.description ?? schema.description ?? ''),
    bounds: boundsOf(schema),
    pattern: schema.pattern,
    values: values.map(shown),
    default: given.default === undefined ? undefined : shown(given.default),
    fields: depth >= deepest ? [] : fieldsWithin(document, schema, depth + 1),
  };
}

export function fieldsWithin(document: OpenApi, given: Schema, depth = 0): Field[] {
  const { schema } = withoutNull(document, given);
  if (schema.items !== undefined) return fieldsWithin(document, schema.items, depth);
  const alternatives = merged(alternativesOf(schema).flatMap((each) => fieldsWithin(document, each, depth)));
  const own = Object.entries(schema.properties ?? {}).map(([name, each]) =>
    fieldOf(document, name, each, schema.required?.includes(name) ?? false, depth),
  );
  return [...own, ...alternatives];
}

/** Two alternatives can have a field of the same name: it is listed once, with the fields of both. */
function merged(fields: Field[]): Field[] {
  const byName = new Map<string, Field>();
  for (const field of fields) {
    const before = byName.get(field.name);
    byName.set(
      field.name,
      before === undefined ? field : { ...before, fields: merged([...before.fields, ...field.fields]) },
    );
  }
  return [...byName.values()];
}

function alternativesOf({ anyOf, oneOf }: Schema): Schema[] {
  return anyOf ?? oneOf ?? [];
}

/** The known values of a field, also of one that can get more values later. */
function valuesOf(document: OpenApi, schema: Schema): unknown[] {
  if (schema.const !== undefined) return [schema.const];
  return schema.enum ?? alternativesOf(schema).flatMap((each) => follow<Schema>(document, each as Schema).enum ?? []);
}

function withoutNull(document: OpenApi, given: Schema): { schema: Schema; isNullable: boolean } {
  const schema = follow<Schema>(document, given as Schema);
  const isNull = (each: Schema) => each.type === 'null';
  if (schema.anyOf?.some(isNull)) {
    const others = schema.anyOf.filter((each) => !isNull(each));
    const [only] = others;
    const rest = others.length === 1 && only !== undefined ? follow<Schema>(document, only) : { anyOf: others };
    return { schema: rest, isNullable: true };
  }
  const isNullable = Array.isArray(schema.type) && schema.type.includes('null');
  return { schema, isNullable };
}

function typeOf(document: OpenApi, schema: Schema): string {
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
  if (schema.items !== undefined)
    return `list of ${plural(typeOf(document, withoutNull(document, schema.items).schema))}`;
  const alternatives = alternativesOf(schema).map((each) => typeOf(document, withoutNull(document, each).schema));
  if (alternatives.length > 0) return [...new Set(alternatives)].join(' or ');
  if (schema.format === 'date-time') return 'time';
  if (types.length > 0) return types.join(' or ');
  return schema.const === undefined ? 'any value' : typeof schema.const;
}

function plural(type: string): string {
  return type
    .split(' or ')
    .map((each) => (each.startsWith('list') || each === 'any value' ? `${each}s` : `${each}s`))
    .join(' or ');
}

function boundsOf(schema: Schema): string[] {
  return [
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
  ].filter((bound) => bound !== undefined);
}

function range(least: number | undefined, most: number | undefined, what: string): string | undefined {
  if (least !== undefined && most !== undefined) return `${count(least)} to ${count(most)}${what}`;
  if (most !== undefined) return `at most ${count(most)}${what}`;
  return least === undefined ? undefined : `at least ${count(least)}${what}`;
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** `a text of 1 to 10 segments` becomes `A text of 1 to 10 segments.` A value, like `sms`, stays as it is. */
function sentence(text: string): string {
  if (text === '') return '';
  if (/^\S+$/.test(text)) return `\`${text}\``;
  const first = /^\w+:/.test(text) ? text : text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
