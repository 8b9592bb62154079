import { words as auditWords } from '../../words/audit.ts';

/** The details of an entry as names and texts. A change from one state to another shows only what differs. */
export function detailsOf({ from, to, ...others }: Record<string, unknown>): [string, string][] {
  const rest = Object.entries(others).map(([name, value]): [string, string] => [name, textOf(value)]);
  if (isRecord(from) && isRecord(to)) {
    const names = Object.keys(to).filter((name) => textOf(from[name]) !== textOf(to[name]));
    return [
      ...rest,
      ...names.map((name): [string, string] => [name, auditWords.changed(textOf(from[name]), textOf(to[name]))]),
    ];
  }
  const both = Object.entries({ from, to }).filter(([, value]) => value !== undefined);
  return [...rest, ...both.map(([name, value]): [string, string] => [name, textOf(value)])];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
