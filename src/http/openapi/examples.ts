import { itemKeyword } from '../request/validation.ts';
import { exampleOfField } from './field-examples.ts';
import type { Mode, Node, Report } from './schemas.ts';

/**
 * An example of a schema: its own `examples`, or one generated from its fields. A request shows only what it must have,
 * an answer shows every field.
 */
export function exampleOf(schema: Node, mode: Mode, report: Report, place: string[] = []): unknown {
  const node = (schema[itemKeyword] as Node | undefined) ?? schema;
  const { examples, type, properties, items, anyOf, enum: values } = node;
  const types = [type].flat();
  if (Array.isArray(examples)) return examples[0];
  if ('const' in node) return node.const;
  if (properties !== undefined) return exampleOfObject(node, mode, report, place);
  if (types.includes('null')) return null;
  if (items !== undefined && !(mode === 'request' && 'default' in node))
    return [exampleOf(items as Node, mode, report, [...place, '0'])];
  if ('default' in node) return node.default;
  if (Array.isArray(values)) return values[0];
  if (Array.isArray(anyOf)) return exampleOf(anyOf[0] as Node, mode, report, place);
  const known = exampleOfField(fieldOf(place));
  if (types.includes(jsonTypeOf(known))) return known;
  if (types.includes('boolean')) return false;
  if (types.includes('integer') || types.includes('number')) return Math.max(Number(node.minimum ?? 0), 1);
  if (types.includes('object')) return {};
  report(
    `has no example for ${place.join('.') || 'its body'}: give the field "examples", or name it in field-examples.ts`,
  );
  return undefined;
}

function exampleOfObject(node: Node, mode: Mode, report: Report, place: string[]): Node {
  const properties = Object.entries(node.properties as Record<string, Node>);
  const required = new Set(Array.isArray(node.required) ? node.required : []);
  const needed = properties.filter(([name, each]) => required.has(name) && !('default' in each));
  const shown = mode === 'request' && needed.length > 0 ? needed : properties;
  return Object.fromEntries(shown.map(([name, each]) => [name, exampleOf(each, mode, report, [...place, name])]));
}

/** The name of the field; the items of a list have the name of the list. */
function fieldOf(place: string[]): string | undefined {
  return place.findLast((step) => step !== '0');
}

function jsonTypeOf(value: unknown): string {
  return typeof value === 'number' ? 'integer' : typeof value;
}
