import type { RouteRule } from '../../api/operator-types.ts';
import { words } from '../../words/operator/routes.ts';

/** The changes that saving a draft makes: one entry for each rule that differs. */
export interface RuleChange {
  name: string;
  kind: 'added' | 'removed' | 'changed' | 'moved';
  /** Positions in the list, from 1; null if the rule is in only one of them. */
  from: number | null;
  to: number | null;
  fields: { field: string; before: string; after: string }[];
}

/** Rules are identified by name. */
export function diffRoutes(before: readonly RouteRule[], after: readonly RouteRule[]): RuleChange[] {
  const indexes = (rules: readonly RouteRule[]) => new Map(rules.map(({ name }, index) => [name, index]));
  const [oldIndexes, newIndexes] = [indexes(before), indexes(after)];
  const stays = unmoved(after.flatMap(({ name }) => oldIndexes.get(name) ?? []));
  const removed = before
    .filter(({ name }) => !newIndexes.has(name))
    .map(
      ({ name }): RuleChange => ({ name, kind: 'removed', from: positionOf(oldIndexes, name), to: null, fields: [] }),
    );
  const kept = after.flatMap((rule): RuleChange[] => {
    const { name } = rule;
    const old = before[oldIndexes.get(name) ?? -1];
    const to = positionOf(newIndexes, name);
    if (old === undefined) return [{ name, kind: 'added', from: null, to, fields: [] }];
    const fields = differences(old, rule);
    const isMoved = !stays.has(oldIndexes.get(name) ?? -1);
    if (fields.length === 0 && !isMoved) return [];
    const kind = fields.length > 0 ? 'changed' : 'moved';
    return [{ name, kind, from: isMoved ? positionOf(oldIndexes, name) : to, to, fields }];
  });
  return [...removed, ...kept];
}

function positionOf(indexes: Map<string, number>, name: string): number {
  return (indexes.get(name) ?? 0) + 1;
}

function differences(before: RouteRule, after: RouteRule): RuleChange['fields'] {
  const [old, wanted] = [flat(before), flat(after)];
  return [...new Set([...old.keys(), ...wanted.keys()])].flatMap((field) => {
    const [was, is] = [old.get(field) ?? nothing, wanted.get(field) ?? nothing];
    return was === is ? [] : [{ field, before: was, after: is }];
  });
}

const nothing = '–';

/** Each setting of a rule as a text that people can compare. */
function flat({ match, carriers, failover, failover_bulk, from, hours }: RouteRule): Map<string, string> {
  return new Map(
    Object.entries({
      ...Object.fromEntries(Object.entries(match).map(([field, list]) => [field, list.join(', ')])),
      carriers: carriers.map(({ carrier, weight }) => `${carrier} ${weight}`).join(', '),
      failover: failover.join(', '),
      'failover of other texts': failover_bulk === false ? '' : `${failover_bulk.per_minute} a minute`,
      'sent as': from ?? '',
      hours: hours === null ? '' : hoursText(hours),
    }).map(([field, text]) => [field, text === '' ? nothing : text]),
  );
}

export function hoursText({ from, to, days, zone }: NonNullable<RouteRule['hours']>): string {
  return `${from}–${to} ${days.length === 0 ? words.text.everyDay : days.join(', ')}, ${zone}`;
}

/** The longest increasing subsequence: all other rules have moved. */
function unmoved(indexes: number[]): Set<number> {
  const best = indexes.map((oldIndex) => ({ chain: [oldIndex] }));
  for (const [index, oldIndex] of indexes.entries()) {
    for (const earlier of best.slice(0, index)) {
      const last = earlier.chain.at(-1) ?? -1;
      const mine = best[index];
      if (mine !== undefined && last < oldIndex && earlier.chain.length + 1 > mine.chain.length) {
        mine.chain = [...earlier.chain, oldIndex];
      }
    }
  }
  return new Set(best.reduce<number[]>((longest, { chain }) => (chain.length > longest.length ? chain : longest), []));
}
