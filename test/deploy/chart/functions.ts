import { stringify } from 'yaml';

const isEmpty = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === 0 ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** Those of Go, sprig and helm that the chart uses. */
export const functions = {
  add: (...numbers: number[]) => numbers.reduce((sum, each) => sum + each, 0),
  and: (...values: unknown[]) => values.find(isEmpty) ?? values.at(-1),
  contains: (part: string, text: string) => text.includes(part),
  default: (fallback: unknown, value: unknown) => (isEmpty(value) ? fallback : value),
  dict: (...entries: unknown[]) =>
    Object.fromEntries(entries.flatMap((each, place) => (place % 2 === 0 ? [[String(each), entries[place + 1]]] : []))),
  div: (one: number, other: number) => Math.trunc(one / other),
  eq: (one: unknown, other: unknown) => one === other,
  fail: (message: string) => {
    throw new Error(message);
  },
  index: (value: Record<string, unknown>, name: string) => value[name],
  int: (value: unknown) => Math.trunc(Number(value)),
  join: (separator: string, list: unknown[]) => list.join(separator),
  list: (...values: unknown[]) => values,
  lt: (one: number, other: number) => one < other,
  nindent: (spaces: number, text: string) => `\n${text.replaceAll(/^/gm, ' '.repeat(spaces))}`,
  not: (value: unknown) => isEmpty(value),
  or: (...values: unknown[]) => values.find((value) => !isEmpty(value)) ?? values.at(-1),
  printf: (format: string, ...values: unknown[]) => format.replaceAll('%s', () => String(values.shift())),
  quote: (value: unknown) => JSON.stringify(String(value)),
  regexReplaceAll: (pattern: string, text: string, by: string) =>
    text.replaceAll(new RegExp(pattern, 'g'), by.replaceAll(/\$\{(\d)\}/g, '$$$1')),
  ternary: (yes: unknown, no: unknown, choice: boolean) => (choice ? yes : no),
  toYaml: (value: unknown) => stringify(value).trimEnd(),
  trimSuffix: (suffix: string, text: string) => (text.endsWith(suffix) ? text.slice(0, -suffix.length) : text),
  trunc: (length: number, text: string) => text.slice(0, length),
} as unknown as Record<string, (...args: unknown[]) => unknown>;
