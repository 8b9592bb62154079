import { problemsOf } from '../../http/request/validation.ts';
import { isObject } from '../../platform/is-object.ts';
import { shortened } from './file.ts';
import type { Problems } from './problems.ts';

/** An entry of the file that fits its schema, with the schema's defaults. */
export interface Read<Value> {
  path: string;
  value: Value;
}

/** An entry that may not fit: its references are checked too, so that all that is wrong is named at once. */
export interface Unfit<Value> extends Read<Partial<Value>> {
  /** Undefined if it does not fit. */
  fit: Value | undefined;
}

/** Reads the entries of a list. Each that does not fit is named with all that is wrong, and left out. */
export function readEntries<Value>(
  list: readonly unknown[],
  path: string,
  schema: object,
  problems: Problems,
): Read<Value>[] {
  return readAllEntries<Value>(list, path, schema, problems).flatMap(({ path, fit }) =>
    fit === undefined ? [] : [{ path, value: fit }],
  );
}

/** Like `readEntries`, with the entries that do not fit. */
export function readAllEntries<Value>(
  list: readonly unknown[],
  path: string,
  schema: object,
  problems: Problems,
): Unfit<Value>[] {
  return list.map((entry, index) => readEntry<Value>(entry, `${path}.${index}`, schema, problems));
}

export function readEntry<Value>(entry: unknown, path: string, schema: object, problems: Problems): Unfit<Value> {
  // A copy, because checking fills in defaults.
  const value = structuredClone(entry);
  const unknown = unknownNames(schema, value, '');
  const isWrong = problems.addAll(path, [...problemsOf(schema, value), ...unknown]);
  const shown = isObject(value) ? (value as Partial<Value>) : {};
  return { path, value: shown, fit: isWrong ? undefined : (value as Value) };
}

interface SchemaNode {
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
}

/** An API ignores names that it does not know. In a file they are mistakes, and must not go unseen. */
function unknownNames(schema: SchemaNode, value: unknown, path: string): { field: string; message: string }[] {
  const at = (name: string | number) => (path === '' ? `${name}` : `${path}.${name}`);
  const { properties, items } = schema;
  if (Array.isArray(value) && items !== undefined)
    return value.flatMap((each, index) => unknownNames(items, each, at(index)));
  if (!isObject(value) || properties === undefined) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (inner !== undefined) return unknownNames(inner, each, at(name));
    const known = Object.keys(properties).join(', ');
    return [{ field: at(shortened(name)), message: `is not known here: there may be ${known}` }];
  });
}
