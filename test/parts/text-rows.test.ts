import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type Cell, fromTextRows, toTextRows } from '../../src/platform/database/text-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase({ empty: true });
});
after(() => db.drop());

async function thereAndBack(rows: Cell[][]): Promise<(string | null)[][]> {
  const { rows: read } = await db.database.query<{ c: (string | null)[] }>(
    `select c from ${fromTextRows(2)} r where $1 = 'first' order by place`,
    ['first', ...toTextRows(rows)],
  );
  return read.map(({ c }) => c);
}

test('rows arrive as they were, whatever is written in them', async () => {
  // Two cells at least: a list of one empty text and an empty list look the same.
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('\x1d', '\x1e', '\x1f', '\t', '\n', '"', '\\', '{', ',', 'a', 'é', '😀') }),
  );
  const cell = fc.oneof(
    text.filter((value) => !value.includes('\0')),
    fc.constantFrom<Cell>(null, '', 'null', 'NULL', true, false, 0, -1, 1.5),
  );
  const row = fc.tuple(cell, cell, cell);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      const texts = rows.map((cells) => cells.map((value) => (value === null ? null : String(value))));
      assert.deepEqual(await thereAndBack(rows), texts);
    }),
    { numRuns: 300 },
  );
});

test('an empty list of rows gives an empty list', async () => {
  assert.deepEqual(await thereAndBack([]), []);
});
