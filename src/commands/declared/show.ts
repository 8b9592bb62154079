import { styleText } from 'node:util';
import type { Entry, FieldChange } from './change.ts';
import { type DeclaredPlan, isDifferent } from './plan-file.ts';

type Style = (text: string, entry?: Entry['action']) => string;

const signs = { same: ' ', create: '+', change: '~', delete: '-' } as const;
const colours = { same: 'dim', create: 'green', change: 'yellow', delete: 'red' } as const;
/** A line of a diff stays readable. */
const longestValue = 120;

/** The difference as a person reads it; what is the same is only counted. */
export function showPlan(plan: DeclaredPlan, colour: boolean): string {
  const style: Style = (text, action) =>
    colour && action !== undefined ? styleText(colours[action], text, { validateStream: false }) : text;
  const entries = [...plan.together, ...plan.oneByOne];
  const lines = entries.filter(({ action }) => action !== 'same').flatMap((entry) => showEntry(entry, style));
  return isDifferent(plan) ? [...lines, '', showCounts(entries)].join('\n') : `No difference: ${showCounts(entries)}`;
}

function showEntry({ action, kind, name, fields }: Entry, style: Style): string[] {
  const title = kind === 'guard' || kind === 'routes' ? kind : `${kind} ${name}`;
  return [
    style(`${signs[action]} ${title}`, action),
    ...fields.map((field) => `    ${showField(field, action === 'create')}`),
  ];
}

function showField(change: FieldChange, isNew: boolean): string {
  const { field } = change;
  if (change.secret === true) return `${field}: changed (secret)`;
  return isNew
    ? `${field}: ${showValue(change.after)}`
    : `${field}: ${showValue(change.before)} → ${showValue(change.after)}`;
}

function showValue(value: unknown): string {
  if (value === undefined) return 'none';
  const text = JSON.stringify(value);
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`;
}

function showCounts(entries: readonly Entry[]): string {
  const count = (action: Entry['action']) => entries.filter((entry) => entry.action === action).length;
  const changes = [`${count('create')} to create`, `${count('change')} to change`, `${count('delete')} to delete`];
  const same = `${count('same')} the same`;
  return count('same') === entries.length ? `${same}.` : `${changes.join(', ')}, ${same}.`;
}

/** The difference as JSON, for programs. */
export function planAsJson(plan: DeclaredPlan): Record<string, unknown> {
  const entries = [...plan.together, ...plan.oneByOne];
  return {
    different: isDifferent(plan),
    changes: entries
      .filter(({ action }) => action !== 'same')
      .map(({ action, kind, name, fields }) => ({ action, kind, name, fields })),
    same: entries.filter(({ action }) => action === 'same').length,
  };
}

/** The lines of `npm run carriers -- apply`: one for each object. */
export function showLines(plan: DeclaredPlan): string[] {
  return [...plan.together, ...plan.oneByOne].map((entry) => {
    const { kind, name } = entry;
    const label = kind === 'carrier' ? name : kind === 'routes' ? kind : `${kind} ${name}`;
    return `${label}: ${outcomeOf(entry)}`;
  });
}

function outcomeOf({ action, fields }: Entry): string {
  switch (action) {
    case 'create':
      return 'new';
    case 'delete':
      return 'deleted';
    case 'same':
      return 'unchanged';
    case 'change':
      return fields.map(lineOf).join(', ');
  }
}

function lineOf(change: FieldChange): string {
  const { field, before, after } = change;
  if (change.secret === true) return `${field} changed`;
  if (field === 'order' && Array.isArray(after)) return `order changed to ${after.join(', ')}`;
  if (field === 'status' || field === 'application') return `${before} → ${after}`;
  return `${field}: ${showValue(before)} → ${showValue(after)}`;
}
