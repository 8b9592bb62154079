import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { RouteRule } from '../../api/operator-types.ts';
import { diffRoutes, type RuleChange } from './route-diff.ts';

function ruleOf(name: string, changed: Partial<RouteRule> = {}): RouteRule {
  return {
    name,
    match: {},
    carriers: [{ carrier: 'one', weight: 1 }],
    failover: [],
    failover_bulk: false,
    from: null,
    hours: null,
    ...changed,
  };
}

const [uk, france, rest] = [ruleOf('uk'), ruleOf('france'), ruleOf('rest')];
const linesOf = (changes: RuleChange[]) => changes.map(({ kind, name, from, to }) => `${kind} ${name} ${from} ${to}`);

describe('the diff of two route tables', () => {
  test('is empty for the same table', () => {
    assert.deepEqual(diffRoutes([uk, france], [uk, france]), []);
  });

  test('names rules that were added and removed, with their positions', () => {
    assert.deepEqual(linesOf(diffRoutes([uk, france], [uk, rest])), ['removed france 2 null', 'added rest null 2']);
  });

  test('reports one moved rule when it passed two others', () => {
    assert.deepEqual(linesOf(diffRoutes([uk, france, rest], [france, rest, uk])), ['moved uk 1 3']);
  });

  test('shows each setting that differs, before and after', () => {
    const changed = ruleOf('uk', {
      match: { countries: ['GB', 'IE'] },
      failover_bulk: { per_minute: 60 },
      hours: { from: '08:00', to: '20:00', days: [], zone: 'Europe/London' },
    });
    assert.deepEqual(diffRoutes([uk], [changed])[0]?.fields, [
      { field: 'failover of other texts', before: '–', after: '60 a minute' },
      { field: 'hours', before: '–', after: '08:00–20:00 every day, Europe/London' },
      { field: 'countries', before: '–', after: 'GB, IE' },
    ]);
  });

  test('is complete: applied to the old names, it gives the new ones', () => {
    const names = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 });
    fc.assert(
      fc.property(names, names, (before, after) => {
        const changes = diffRoutes(
          before.map((name) => ruleOf(name)),
          after.map((name) => ruleOf(name)),
        );
        assert.deepEqual(applied(before, changes), after);
      }),
    );
  });
});

/** Takes out removed and moved rules, then inserts added and moved ones in the order of their positions. */
function applied(before: string[], changes: RuleChange[]): string[] {
  const names = before.filter((name) => !changes.some((change) => change.name === name));
  const placed = changes.filter(({ to }) => to !== null).sort((a, b) => (a.to ?? 0) - (b.to ?? 0));
  for (const { name, to } of placed) names.splice((to ?? 1) - 1, 0, name);
  return names;
}
