import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/platform/clock.ts';
import { type Batch, type BatchOptions, createBatch } from '../../src/platform/database/batch.ts';
import type { QueueLimits } from '../../src/platform/database/batch-queue.ts';
import type { Database, Tx } from '../../src/platform/database/database.ts';
import { sqlStateOf } from '../../src/platform/database/errors.ts';
import { ApiError } from '../../src/platform/errors.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase({ empty: true });
  await db.database.query('create table counter (id text primary key, spent integer not null default 0)');
  await db.database.query('create table entry (id text primary key, value integer not null check (value >= 0))');
});
after(() => db.drop());

interface Count {
  id: string;
}

/** Reads and writes a row in one statement, as a check of a code does; the answer is the count that this item made. */
async function count(tx: Tx, items: Count[]): Promise<number[]> {
  const { rows } = await tx.query<{ id: string; spent: number }>(
    `update counter set spent = spent + 1 from unnest($1::text[]) as given (id)
     where counter.id = given.id returning counter.id, spent`,
    [items.map(({ id }) => id)],
  );
  const spentOf = new Map(rows.map(({ id, spent }) => [id, spent]));
  return items.map(({ id }) => spentOf.get(id) ?? Number.NaN);
}

function createCounting(database: Database, options: Partial<BatchOptions<Count, number>> = {}): Batch<Count, number> {
  return createBatch({
    database,
    clock: systemClock,
    keysOf: ({ id }) => [id],
    run: count,
    repeatable: false,
    ...options,
  });
}

interface Entry {
  id: string;
  value: string;
}

async function insert(tx: Tx, items: Entry[]): Promise<string[]> {
  await tx.query(
    `insert into entry select * from unnest($1::text[], $2::text[]::integer[]) on conflict (id) do nothing`,
    [items.map(({ id }) => id), items.map(({ value }) => value)],
  );
  return items.map(({ id }) => id);
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

let made = 0;
/** Names that are used once, so that every run of a property starts from nothing. */
function fresh(prefix: string): string {
  made += 1;
  return `${prefix}-${made}`;
}

async function addCounters(ids: string[]): Promise<void> {
  await db.database.query('insert into counter (id) select * from unnest($1::text[])', [ids]);
}

describe('items that touch the same thing', () => {
  test('never share a batch: n counts of one row count exactly n, and are answered in the order they came', async () => {
    const burst = fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 3 }), async (bursts) => {
        const ids = Array.from({ length: 5 }, () => fresh('row'));
        await addCounters(ids);
        const batches: string[][] = [];
        const batch = createCounting(db.database, {
          run: (tx, items) => {
            batches.push(items.map(({ id }) => id));
            return count(tx, items);
          },
        });
        const answers = new Map(ids.map((id) => [id, [] as Promise<number>[]]));
        for (const keys of bursts) {
          for (const key of keys) answers.get(ids[key] ?? '')?.push(batch.submit({ id: ids[key] ?? '' }));
          await new Promise((done) => setImmediate(done));
        }
        await batch.drain();
        for (const together of batches) assert.equal(new Set(together).size, together.length);
        for (const promises of answers.values()) {
          assert.deepEqual(
            await Promise.all(promises),
            promises.map((_, index) => index + 1),
          );
        }
      }),
      { numRuns: 40 },
    );
  });

  test('with several keys each, none is overtaken by one that came later and shares a key', async () => {
    const keys = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(keys, { minLength: 2, maxLength: 25 }),
        fc.integer({ min: 1, max: 5 }),
        async (list, maxItems) => {
          const batchOf = new Map<number, number>();
          let batches = 0;
          const batch = createBatch<{ index: number; keys: string[] }, number>({
            database: db.database,
            clock: systemClock,
            keysOf: (item) => item.keys,
            repeatable: true,
            limits: { perBatch: maxItems },
            run: async (_tx, items) => {
              assert.ok(items.length <= maxItems);
              for (const { index } of items) batchOf.set(index, batches);
              batches += 1;
              return items.map(({ index }) => index);
            },
          });
          const answers = await Promise.all(list.map((keys, index) => batch.submit({ index, keys })));
          assert.deepEqual(
            answers,
            list.map((_, index) => index),
          );
          list.forEach((own, index) => {
            for (let later = index + 1; later < list.length; later++) {
              if (!list[later]?.some((key) => own.includes(key))) continue;
              assert.ok((batchOf.get(index) ?? 0) < (batchOf.get(later) ?? 0), `${later} overtook ${index}`);
            }
          });
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('items that fail', () => {
  test('fail alone: bad data and violated constraints are their own, and all others are committed', async () => {
    const kinds = fc.array(fc.constantFrom('good', 'violating', 'unreadable'), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(kinds, async (list) => {
        const batch = createBatch<Entry, string>({
          database: db.database,
          clock: systemClock,
          keysOf: ({ id }) => [id],
          run: insert,
          repeatable: true,
        });
        const valueOfKind = { good: '1', violating: '-1', unreadable: 'x' };
        const entries = list.map((kind) => ({ id: fresh(kind), value: valueOfKind[kind as keyof typeof valueOfKind] }));
        const outcomes = await Promise.allSettled(entries.map((entry) => batch.submit(entry)));
        outcomes.forEach((outcome, index) => {
          if (list[index] === 'good') assert.deepEqual(outcome, { status: 'fulfilled', value: entries[index]?.id });
          else if (outcome.status === 'fulfilled') assert.fail(`${list[index]} was accepted`);
          else assert.match(sqlStateOf(outcome.reason) ?? '', list[index] === 'violating' ? /^23514$/ : /^22P02$/);
        });
        const ids = entries.map(({ id }) => id);
        const { count } = await db.database.query('select from entry where id = any($1)', [ids]);
        assert.equal(count, list.filter((kind) => kind === 'good').length);
      }),
      { numRuns: 25 },
    );
  });

  test('cost few commits: one bad row among 256 is found by halving', async () => {
    let runs = 0;
    const batch = createBatch<Entry, string>({
      database: db.database,
      clock: systemClock,
      keysOf: ({ id }) => [id],
      repeatable: true,
      run: (tx, items) => {
        runs += 1;
        return insert(tx, items);
      },
    });
    const entries = Array.from({ length: 256 }, (_, index) => ({
      id: fresh('half'),
      value: index === 77 ? '-1' : '1',
    }));
    const outcomes = await Promise.allSettled(entries.map((entry) => batch.submit(entry)));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 255);
    assert.equal(outcomes[77]?.status, 'rejected');
    assert.ok(runs <= 17, `${runs} runs`);
  });

  test('fail alone whatever they throw: an error of our own code, or one of the database that no class names', async () => {
    const failures = [
      () => {
        throw new RangeError('Maximum call stack size exceeded');
      },
      (tx: Tx) => tx.query('select cast(repeat($1, 5000) as json)', ['[']),
      (tx: Tx) => tx.query("do $$ begin raise exception 'broken' using errcode = 'XX000'; end $$"),
    ];
    for (const withoutTransaction of [() => true, () => false]) {
      for (const fail of failures) {
        const batch = createBatch<string, string>({
          database: db.database,
          clock: systemClock,
          keysOf: (item) => [item],
          repeatable: true,
          withoutTransaction,
          async run(tx, items) {
            if (items.includes('bad')) await fail(tx);
            return items;
          },
        });
        const items = Array.from({ length: 40 }, (_, index) => (index === 17 ? 'bad' : `good ${index}`));
        const outcomes = await Promise.allSettled(items.map(batch.submit));
        assert.deepEqual(
          outcomes.map(({ status }) => status === 'fulfilled'),
          items.map((item) => item !== 'bad'),
        );
      }
    }
  });

  test('are not run again when that might do it twice: decided work outside a transaction, failed by our own code', async () => {
    let runs = 0;
    const batch = createCounting(db.database, {
      withoutTransaction: () => true,
      async run() {
        runs++;
        throw new TypeError('after the statement');
      },
    });
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => batch.submit({ id })));
    assert.ok(outcomes.every(({ status }) => status === 'rejected'));
    assert.equal(runs, 1);
  });

  test('do not take those who wait behind them along: a refusal concerns its own batch only', async () => {
    const id = fresh('refused');
    await addCounters([id]);
    let first = true;
    const batch = createCounting(db.database, {
      run: (tx, items) => {
        if (!first) return count(tx, items);
        first = false;
        throw new ApiError('INCOMPATIBLE_STATE', 'It cannot be.');
      },
    });
    const outcomes = await Promise.allSettled([batch.submit({ id }), batch.submit({ id })]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    );
  });

  test('say so when a run gives fewer results than it had items', async () => {
    const batch = createCounting(db.database, { run: async () => [] });
    await assert.rejects(batch.submit({ id: 'any' }), /fewer results/);
  });
});

test('two batches on two pools that deadlock are both run to the end', async () => {
  const [left, right] = [fresh('left'), fresh('right')];
  await addCounters([left, right]);
  const runs: string[] = [];
  let bothHold = () => {};
  const crossed = new Promise<void>((resolve) => {
    bothHold = resolve;
  });
  const holding = new Set<string>();
  const crossing = (name: string, order: string[]) =>
    createCounting(db.another(), {
      run: async (tx) => {
        runs.push(name);
        let last = 0;
        for (const id of order) {
          [last = 0] = await count(tx, [{ id }]);
          holding.add(name);
          if (holding.size === 2) bothHold();
          await crossed;
        }
        return [last];
      },
    });
  const answers = await Promise.all([
    crossing('one', [left, right]).submit({ id: left }),
    crossing('two', [right, left]).submit({ id: right }),
  ]);
  assert.deepEqual(answers.toSorted(), [1, 2]);
  assert.ok(runs.length > 2, 'there was no deadlock');
  const { rows } = await db.database.query('select spent from counter where id = any($1)', [[left, right]]);
  assert.deepEqual(rows, [{ spent: 2 }, { spent: 2 }]);
});

test('a list of waiting items that is full refuses more at once, and is open again when it has room', async () => {
  const ids = Array.from({ length: 6 }, () => fresh('full'));
  await addCounters(ids);
  const batch = createCounting(db.database, { limits: { waiting: 4 } });
  const outcomes = await Promise.allSettled(ids.map((id) => batch.submit({ id })));
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  assert.equal(refused.length, 2);
  for (const error of refused) assert.ok(error instanceof ApiError && error.code === 'UNAVAILABLE');
  assert.equal(await batch.submit({ id: ids[5] ?? '' }), 1);
});

describe('heavy items', () => {
  interface Load {
    owner: string;
    weight: number;
  }
  /** The batches in the order they ran; the first one holds the others up until all are submitted. */
  async function runAll(loads: Load[], limits: Partial<QueueLimits>): Promise<Load[][]> {
    const batches: Load[][] = [];
    const batch = createBatch<Load, undefined>({
      database: db.database,
      clock: systemClock,
      keysOf: () => [],
      ownerOf: ({ owner }) => owner,
      weightOf: ({ weight }) => weight,
      repeatable: true,
      withoutTransaction: () => true,
      limits,
      async run(_tx, items) {
        batches.push(items);
        await pause(1);
        return items.map(() => undefined);
      },
    });
    await Promise.all(loads.map(batch.submit));
    return batches;
  }
  const weightOf = (items: Load[]) => items.reduce((sum, { weight }) => sum + weight, 0);

  test('batches are bounded by rows: 500 requests of 100 texts never are one statement', async () => {
    const loads = Array.from({ length: 500 }, () => ({ owner: 'bulk', weight: 100 }));
    const batches = await runAll(loads, { perBatch: 500, waiting: 200_000 });
    assert.equal(batches.flat().length, 500);
    assert.ok(batches.every((items) => weightOf(items) <= 500));
  });

  test('an item heavier than a batch goes alone', async () => {
    const batches = await runAll(
      [1, 900, 1, 1].map((weight) => ({ owner: 'one', weight })),
      { perBatch: 500 },
    );
    assert.ok(batches.every((items) => items.length === 1 || weightOf(items) <= 500));
    assert.equal(batches.flat().length, 4);
  });

  test('callers take turns: one with a long queue delays another by one batch, not by its queue', async () => {
    const bulk = Array.from({ length: 100 }, () => ({ owner: 'bulk', weight: 100 }));
    const batches = await runAll([...bulk, { owner: 'small', weight: 1 }], { perBatch: 500, waiting: 100_000 });
    const place = batches.findIndex((items) => items.some(({ owner }) => owner === 'small'));
    assert.ok(place <= 2, `it was in batch ${place} of ${batches.length}`);
  });

  test('a caller that fills its half of the queue is refused, and another is not', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const batch = createBatch<Load, undefined>({
      database: db.database,
      clock: systemClock,
      keysOf: () => [],
      ownerOf: ({ owner }) => owner,
      weightOf: ({ weight }) => weight,
      repeatable: true,
      withoutTransaction: () => true,
      limits: { perBatch: 10, waiting: 100 },
      run: (_tx, items) => gate.then(() => items.map(() => undefined)),
    });
    const bulk = Array.from({ length: 20 }, () => batch.submit({ owner: 'bulk', weight: 10 }));
    const small = batch.submit({ owner: 'small', weight: 1 });
    release();
    const outcomes = await Promise.allSettled(bulk);
    assert.ok(outcomes.some(({ status }) => status === 'rejected'));
    assert.ok(outcomes.some(({ status }) => status === 'fulfilled'));
    await small;
  });
});

test('one popular row holds up no other caller', async () => {
  const [hot, cold] = [fresh('hot'), fresh('cold')];
  await addCounters([hot, cold]);
  const batch = createCounting(db.database);
  const crowd = Array.from({ length: 60 }, () => batch.submit({ id: hot }));
  let served = 0;
  for (const each of crowd) void each.then(() => served++);
  assert.equal(await batch.submit({ id: cold }), 1);
  assert.ok(served < 10, `it waited for ${served} others`);
  assert.equal(Math.max(...(await Promise.all(crowd))), 60);
});

test('no caller waits longer than 5 s for an answer, whatever the batch in front does', async () => {
  const clock = createTestClock();
  let finish = () => {};
  let begun = 0;
  const batch = createCounting(db.database, {
    clock,
    run: async (_tx, items) => {
      begun += 1;
      await new Promise<void>((done) => {
        finish = done;
      });
      return items.map(() => 1);
    },
  });
  const isLate = (error: unknown) => error instanceof ApiError && error.code === 'UNAVAILABLE';
  const first = assert.rejects(batch.submit({ id: 'same' }), isLate);
  const second = assert.rejects(batch.submit({ id: 'same' }), isLate);
  await eventually('the first batch runs', () => begun === 1);
  clock.advance(2000);
  const third = batch.submit({ id: 'same' });
  clock.advance(2600);
  await Promise.all([first, second]);
  finish();
  await eventually('the next batch runs', () => begun === 2);
  finish();
  assert.equal(await third, 1);
});

test('drain resolves when everything is answered, and at once when nothing waits', async () => {
  const id = fresh('drain');
  await addCounters([id]);
  const batch = createCounting(db.database);
  await batch.drain();
  let answered = false;
  void batch.submit({ id }).then(() => {
    answered = true;
  });
  await batch.drain();
  await new Promise((done) => setImmediate(done));
  assert.ok(answered);
});

describe('two batches under way', () => {
  /** Runs that end when the test ends them. */
  function scripted() {
    const runs: { ids: string[]; end: () => void }[] = [];
    const batch = createBatch<Count, string>({
      database: db.database,
      clock: systemClock,
      keysOf: ({ id }) => [id],
      repeatable: true,
      withoutTransaction: () => true,
      run: (_, items) =>
        new Promise((resolve) => {
          const ids = items.map(({ id }) => id);
          runs.push({ ids, end: () => resolve(ids) });
        }),
    });
    const submit = (...ids: string[]) => Promise.all(ids.map((id) => batch.submit({ id })));
    const turn = () => new Promise((done) => setImmediate(done));
    return { runs, batch, submit, turn, started: () => runs.map(({ ids }) => ids.join('')) };
  }

  test('a second sets out when it is as large as the first; a third waits for one of them', async () => {
    const { runs, batch, submit, turn, started } = scripted();
    const [first, second, third] = ['abcdefghijklmnopqr', 'ABCDEFGHIJKLMNOPQR', '0123456789stuvwxyz'];
    const all = [submit(...first)];
    await turn();
    all.push(submit(...second.slice(0, -1)));
    await turn();
    assert.deepEqual(started(), [first], 'they wait for one more');
    all.push(submit(...second.slice(-1)), submit(...third));
    await turn();
    assert.deepEqual(started(), [first, second]);
    runs[0]?.end();
    await turn();
    assert.deepEqual(started().slice(2), [third]);
    runs[1]?.end();
    runs[2]?.end();
    await Promise.all(all);
    await batch.drain();
  });

  test('a few let the first run for a moment, and no longer', async () => {
    const { runs, batch, submit, turn, started } = scripted();
    const all = [submit('a')];
    await turn();
    all.push(submit('b'));
    await turn();
    assert.deepEqual(started(), ['a'], 'it waits for more');
    all.push(submit('c'));
    await eventually('the others set out while the first is under way', () => started().length === 2);
    assert.deepEqual(started(), ['a', 'bc']);
    for (const { end } of runs) end();
    await Promise.all(all);
    await batch.drain();
  });

  test('a key that many wait for is detected once', async () => {
    let looks = 0;
    let end = () => {};
    const batch = createBatch<Count, string>({
      database: db.database,
      clock: systemClock,
      keysOf: () => {
        const keys = ['the same'];
        keys.some = (...args) => {
          looks++;
          return Array.prototype.some.apply(keys, args);
        };
        return keys;
      },
      repeatable: true,
      withoutTransaction: () => true,
      run: (_, items) => new Promise((resolve) => (end = () => resolve(items.map(({ id }) => id)))),
    });
    const all = Array.from({ length: 500 }, (_, i) => batch.submit({ id: `${i}` }));
    await new Promise((done) => setImmediate(done));
    all.push(...Array.from({ length: 500 }, (_, i) => batch.submit({ id: `later ${i}` })));
    assert.ok(looks < 5000, `${looks} looks`);
    const drained = batch.drain();
    let done = false;
    void drained.then(() => {
      done = true;
    });
    while (!done) {
      end();
      await new Promise((next) => setImmediate(next));
    }
    await Promise.all(all);
  });

  test('what touches the same is never under way together, and keeps its order', async () => {
    const { runs, batch, submit, turn, started } = scripted();
    const all = [submit('a')];
    await turn();
    all.push(submit('a'), submit('a'), submit('b'));
    await eventually('the other one sets out', () => started().length === 2);
    assert.deepEqual(started(), ['a', 'b']);
    runs[1]?.end();
    await turn();
    assert.deepEqual(started(), ['a', 'b'], 'both others touch what is under way');
    for (let run = 0; run < 4; run++) {
      runs[run]?.end();
      await turn();
    }
    assert.deepEqual(started(), ['a', 'b', 'a', 'a']);
    await Promise.all(all);
    await batch.drain();
  });
});
