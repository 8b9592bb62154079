import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createCountBook } from './count-book.ts';

const raise = (counts: Float64Array, by: number) => {
  counts[0] = (counts[0] ?? 0) + by;
};

describe('a book of counts', () => {
  /** A store that keeps the newest revision, as Postgres does, and may lose a write or its answer. */
  function createStore() {
    const rows = new Map<string, { revision: number; count: number }>();
    let names = 0;
    let fault: 'none' | 'write' | 'answer' = 'none';
    const book = createCountBook<string>({
      columns: 1,
      mostRows: 3,
      newName: () => `book ${names++}`,
      async write(name, written) {
        if (fault === 'write') throw new Error('the database is away');
        for (const { key, counts, revision } of written) {
          const id = `${name} ${key}`;
          if ((rows.get(id)?.revision ?? 0) < revision) rows.set(id, { revision, count: counts[0] ?? 0 });
        }
        if (fault === 'answer') throw new Error('the answer was lost');
      },
    });
    return {
      book,
      setFault: (given: typeof fault) => {
        fault = given;
      },
      total: (key: string) =>
        [...rows].filter(([id]) => id.endsWith(` ${key}`)).reduce((sum, [, { count }]) => sum + count, 0),
    };
  }

  test('whatever is lost on the way, and however many books it takes, each count is written once', async () => {
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom('a', 'b', 'c', 'd'), by: fc.constantFrom(1, 2, -1) }),
      fc.record({ fault: fc.constantFrom('none', 'write', 'answer') as fc.Arbitrary<'none' | 'write' | 'answer'> }),
      fc.constant('flush' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { book, setFault, total } = createStore();
        const wanted = new Map<string, number>();
        // More books than wait at most would be dropped, so there are flushes in between.
        for (const [place, each] of steps.entries()) {
          if (each === 'flush') await book.flush().catch(() => {});
          else if ('fault' in each) setFault(each.fault);
          else {
            raise(
              book.counts(each.add, () => each.add),
              each.by,
            );
            wanted.set(each.add, (wanted.get(each.add) ?? 0) + each.by);
          }
          if (place % 10 === 9) {
            setFault('none');
            await book.flush();
          }
        }
        setFault('none');
        await book.flush();
        for (const [key, count] of wanted) assert.equal(total(key), count, key);
      }),
    );
  });

  test('memory stays bounded while the database is away', async () => {
    const written: number[] = [];
    let away = true;
    const book = createCountBook<number>({
      columns: 1,
      mostRows: 10,
      newName: () => 'a book',
      async write(_name, rows) {
        if (away) throw new Error('away');
        written.push(rows.length);
      },
    });
    for (let key = 0; key < 1000; key++)
      raise(
        book.counts(String(key), () => key),
        1,
      );
    await assert.rejects(book.flush());
    away = false;
    await book.flush();
    assert.equal(
      written.reduce((sum, rows) => sum + rows, 0),
      60,
    );
  });
});
