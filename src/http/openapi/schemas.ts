import { schemaKeyword } from '../request/field-problems.ts';
import { itemKeyword, shownKeyword, shownPatternKeyword, valuesKeyword } from '../request/validation.ts';
import { descriptionOfField } from './field-descriptions.ts';
import { isTimeField } from './field-examples.ts';

/** A schema as JSON. */
export type Node = Record<string, unknown>;

/**
 * In a request a field with a default is optional, in an answer it is always present. The default is only in its
 * description, because generators make a field with the keyword `default` required.
 */
export type Mode = 'request' | 'answer';

/** Reports what a route lacks. The service ignores it; a test fails on it. */
export type Report = (problem: string) => void;

/** The schemas with a title, which the document names. */
export interface NamedSchemas {
  /** The schema for the document: a schema with a title becomes a reference to it. */
  shown(schema: object, mode: Mode, title?: string): Node;
  /** Adds all named schemas to the document, and puts their final names into it. */
  finish(document: Node): Node;
}

const place = '#/components/schemas/';

/** Adds the general description of a field's name, unless the schema has its own or is a reference. */
function described(field: string, shown: Node): Node {
  const description = descriptionOfField(field);
  if (description === undefined || 'description' in shown || '$ref' in shown || 'anyOf' in shown) return shown;
  return { description, ...shown };
}

export function createNamedSchemas(report: Report): NamedSchemas {
  /** The key is title and mode, like `Route|request`. */
  const named = new Map<string, { schema: Node; text: string }>();
  /** Schemas that were shown before: several routes answer with the same record. */
  const known = { request: new Map<object, Node>(), answer: new Map<object, Node>() };

  function refer(title: string, mode: Mode, schema: Node): Node {
    const key = `${title}|${mode}`;
    const text = JSON.stringify(schema);
    const known = named.get(key);
    if (known === undefined) named.set(key, { schema, text });
    else if (known.text !== text) report(`two different schemas have the title ${title}: give one another title`);
    return { $ref: place + key };
  }

  function show(node: Node, mode: Mode, field: string | undefined): Node {
    const shown = withShown(node[itemKeyword] === undefined ? node : withItem(node));
    if (valuesKeyword in shown) return openTo(shown, mode);
    const { title, type } = shown;
    if (typeof title !== 'string') return body(shown, mode, field);
    if (!Array.isArray(type)) return refer(title, mode, body(shown, mode, field));
    // For a named schema or null, the name stands for the schema without null.
    const types = type.filter((each) => each !== 'null');
    const alone = { ...shown, type: types.length === 1 ? types[0] : types };
    return { anyOf: [refer(title, mode, body(alone, mode, field)), { type: 'null' }] };
  }

  /** A schema of one of today's values, or any other text. */
  function openTo({ [valuesKeyword]: known, description, type }: Node, mode: Mode): Node {
    const { title, values } = known as { title: string; values: string[] };
    const today = refer(title, mode, {
      description: 'The values of today; expect others',
      type: 'string',
      enum: values,
    });
    return { description, anyOf: [today, ...[type].flat().map((each) => ({ type: each }))] };
  }

  function body(node: Node, mode: Mode, field: string | undefined): Node {
    const shown: Node = {};
    const description = descriptionOf(node, mode, field);
    if (description !== undefined) shown.description = description;
    for (const [key, value] of Object.entries(node)) {
      if (key === 'title' || key === 'description' || key === schemaKeyword || key === 'required') continue;
      if (key === 'examples' && (node.properties ?? node.anyOf ?? node.oneOf) !== undefined) continue;
      if (key === 'default' || isNeedless(key, node)) continue;
      if (key === shownPatternKeyword) shown.pattern = value;
      else if (key === 'properties') shown.properties = propertiesOf(value as Record<string, Node>, mode);
      else if (key === 'items') shown.items = show(value as Node, mode, field);
      else if (key === 'anyOf') Object.assign(shown, unionOf(value as Node[], mode, field));
      else if (key === 'oneOf') shown.oneOf = (value as Node[]).map((each) => show(each, mode, field));
      else if (key === 'additionalProperties' && typeof value === 'object')
        shown[key] = show(value as Node, mode, undefined);
      else if (key === 'patternProperties') Object.assign(shown, recordOf(value as Record<string, Node>, mode));
      else shown[key] = value;
    }
    const required = requiredOf(node, mode);
    if (required.length > 0) shown.required = required;
    if (mode === 'answer' && isTimeField(field) && [node.type].flat().includes('string')) shown.format ??= 'date-time';
    return shown;
  }

  function propertiesOf(properties: Record<string, Node>, mode: Mode): Record<string, Node> {
    return Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, described(name, show(each, mode, name))]),
    );
  }

  function unionOf(alternatives: Node[], mode: Mode, field: string | undefined): Node {
    const values = alternatives.map((each) => each.const);
    if (values.every((value) => typeof value === 'string')) return { type: 'string', enum: values };
    return { anyOf: alternatives.map((each) => show(each, mode, field)) };
  }

  function recordOf(patterns: Record<string, Node>, mode: Mode): Node {
    const [[pattern = '', value = {}] = []] = Object.entries(patterns);
    const names = pattern === '' || pattern === '^.*$' ? {} : { propertyNames: { pattern } };
    return { ...names, additionalProperties: show(value, mode, undefined) };
  }

  /** If requests and answers show a schema differently, it gets two names, like `RouteInput` and `Route`. */
  function lastName(key: string): string {
    const [title = '', mode] = key.split('|');
    return mode === 'request' && differs(title) ? `${title}Input` : title;
  }

  function differs(title: string): boolean {
    const [request, answer] = [named.get(`${title}|request`), named.get(`${title}|answer`)];
    if (request === undefined || answer === undefined) return false;
    if (withoutModes(request.text) !== withoutModes(answer.text)) return true;
    return [...request.text.matchAll(/"#\/components\/schemas\/(\w+)\|/g)].some(([, nested = '']) => differs(nested));
  }

  function rename(part: Node): Node {
    const text = JSON.stringify(part);
    return JSON.parse(
      text.replaceAll(/"#\/components\/schemas\/(\w+\|\w+)"/g, (_, key: string) => `"${place}${lastName(key)}"`),
    );
  }

  return {
    shown(schema, mode, title) {
      const made =
        known[mode].get(schema) ?? show({ ...(title !== undefined && { title }), ...plain(schema) }, mode, undefined);
      known[mode].set(schema, made);
      return made;
    },
    finish(document) {
      const schemas = [...named].map(([key, { schema }]) => [lastName(key), rename(schema)] as const);
      schemas.sort(([a], [b]) => (a < b ? -1 : 1));
      const { components, ...rest } = rename(document);
      return { ...rest, components: { ...(components as Node), schemas: Object.fromEntries(schemas) } };
    },
  };
}

/** The schema as JSON, without functions and TypeBox's own symbols. */
export function plain(schema: object): Node {
  return JSON.parse(JSON.stringify(schema));
}

/** Adds the keywords that only the reference shows; they may replace those that the edge checks. */
function withShown({ [shownKeyword]: more, ...node }: Node): Node {
  return { ...node, ...(more as Node | undefined) };
}

/** Leaves out `type` and `maxLength` beside alternatives, which have their own, and `maxLength` beside a list of values. */
function isNeedless(key: string, { anyOf, oneOf, enum: values }: Node): boolean {
  const hasAlternatives = anyOf !== undefined || oneOf !== undefined;
  return (key === 'type' && hasAlternatives) || (key === 'maxLength' && (hasAlternatives || values !== undefined));
}

/** Shows the schema by which a handler checks each item, in place of the edge's schema. */
function withItem({ [itemKeyword]: item, description }: Node): Node {
  return { ...(description !== undefined && { description }), ...(item as Node) };
}

function descriptionOf(node: Node, mode: Mode, field: string | undefined): string | undefined {
  const own = node.description ?? node[schemaKeyword];
  const description = typeof own === 'string' ? own : undefined;
  if (mode === 'answer' || node.default === undefined) return description;
  const known = description ?? (field === undefined ? undefined : descriptionOfField(field));
  const otherwise = typeof node.default === 'string' ? node.default : JSON.stringify(node.default);
  return known === undefined ? `Default: ${otherwise}` : `${known} (default: ${otherwise})`;
}

function requiredOf({ required, properties }: Node, mode: Mode): string[] {
  const names = Array.isArray(required) ? (required as string[]) : [];
  if (mode === 'answer') return names;
  return names.filter((name) => (properties as Record<string, Node> | undefined)?.[name]?.default === undefined);
}

function withoutModes(text: string): string {
  return text.replaceAll(/\|(?:request|answer)"/g, '"');
}
