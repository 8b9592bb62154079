import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadBatcher } from './read-batcher.ts';

/** A store that answers when the test says so. */
function scripted() {
  const queries: { keys: number[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const find = createReadBatcher<number, number>(
    (keys) =>
      new Promise((resolve, reject) => {
        queries.push({ keys, answer: () => resolve(keys.map((key) => key * 10)), fail: reject });
      }),
  );
  return { queries, find };
}
const turn = () => new Promise((done) => setImmediate(done));

test('what is asked for together is one query, and each gets its own answer', async () => {
  const { queries, find } = scripted();
  const asked = [3, 1, 3].map(find);
  await turn();
  assert.deepEqual(
    queries.map(({ keys }) => keys),
    [[3, 1, 3]],
  );
  queries[0]?.answer();
  assert.deepEqual(await Promise.all(asked), [30, 10, 30]);
});

test('a query starts after all its reads were requested: no read gets an older result', async () => {
  const { queries, find } = scripted();
  const first = find(1);
  await turn();
  const second = find(1);
  await turn();
  assert.equal(queries.length, 2);
  const third = find(1);
  await turn();
  assert.equal(queries.length, 2, 'two at a time');
  queries[0]?.answer();
  assert.equal(await first, 10);
  await turn();
  assert.equal(queries.length, 3);
  for (const { answer } of queries) answer();
  assert.deepEqual(await Promise.all([second, third]), [10, 10]);
});

test('a query that fails rejects its own reads, and no other', async () => {
  const { queries, find } = scripted();
  const failing = [1, 2].map(find);
  await turn();
  const fine = find(3);
  await turn();
  queries[0]?.fail(new Error('away'));
  queries[1]?.answer();
  const outcomes = await Promise.allSettled(failing);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await fine, 30);
});

test('more than fit into one query are split, and none is forgotten', async () => {
  const sizes: number[] = [];
  const find = createReadBatcher<number, number>(async (keys) => {
    sizes.push(keys.length);
    return keys;
  });
  const asked = Array.from({ length: 1700 }, (_, key) => find(key));
  assert.deepEqual(
    await Promise.all(asked),
    Array.from({ length: 1700 }, (_, key) => key),
  );
  assert.ok(sizes.every((size) => size <= 500));
});
