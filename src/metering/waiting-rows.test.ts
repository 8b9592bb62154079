import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { WaitingRows } from './waiting-rows.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'é', '✓', '😀', ' ', '\x1f', '\x1d'), maxLength: 400 });
const act = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), row: text }),
  fc.record({ kind: fc.constant('addAll' as const), rows: fc.array(text, { maxLength: 5 }) }),
  fc.record({ kind: fc.constant('keepNewest' as const), most: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ kind: fc.constant('clear' as const) }),
);

test('rows stand one behind the other, as they would in a list', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const rows = new WaitingRows();
      let list: string[] = [];
      for (const each of acts) {
        if (each.kind === 'add') {
          rows.add(each.row);
          list.push(each.row);
        } else if (each.kind === 'addAll') {
          const others = new WaitingRows();
          for (const row of each.rows) others.add(row);
          rows.addAll(others);
          list.push(...each.rows);
        } else if (each.kind === 'keepNewest') {
          rows.keepNewest(each.most);
          list = list.slice(-each.most);
        } else {
          rows.clear();
          list = [];
        }
        assert.equal(rows.count, list.length);
        assert.equal(rows.bytes.toString(), list.join('\x1e'));
      }
    }),
    { numRuns: 500 },
  );
});
