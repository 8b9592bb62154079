import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAnswerTimes } from './answer-times.ts';
import { createLedger, type Promised } from './ledger.ts';
import { type MadeRun, makeWatched } from './made-samples.ts';
import { checkEvent, createCodeCheck, createTextCheck } from './reconcile.ts';
import { type Findings, judge, passes } from './verdict.ts';

const neededNames = [
  'an accepted text is stored, once',
  'an accepted text ends',
  'a right code counts once',
  'a revoked token is refused at once',
  'the feed has every event',
  'the stream has every event',
  'the webhook has every event',
];
const kept: Promised[] = neededNames.map((name) => ({ name, checked: 1000, broken: 0, first: undefined }));

/** Of a run in which everything was well, but for what is given. */
function find(run: MadeRun, more: Partial<Findings> = {}) {
  const watched = makeWatched(run);
  return judge({ watched, promises: kept, operations: [], left: 0, ended: undefined, ...more });
}

function failedNames(lines: ReturnType<typeof judge>): string[] {
  return lines.filter(({ holds }) => holds === false).map(({ name }) => name);
}

function timesOf(slowShare: number) {
  const usual = createAnswerTimes();
  for (let index = 0; index < 1000; index++) usual.add(index < 1000 * slowShare ? 400 : 5);
  return [{ operation: 'text', usual, faulty: createAnswerTimes() }];
}

describe('the verdict of 90 minutes', () => {
  test('passes where everything is flat, and says so', () => {
    const lines = find({ minutes: 90 });
    assert.deepEqual(failedNames(lines), []);
    assert.ok(passes(lines), 'a flat run passes');
    const heap = lines.find(({ name }) => name.startsWith('Heap'));
    assert.match(heap?.found ?? '', /^flat at 6\d MB/);
    assert.match(lines.find(({ name }) => name === 'Size of message')?.found ?? '', /^flat: 1,2\d\d bytes a row/);
    assert.match(lines.find(({ name }) => name === 'Size of delivery_queue')?.found ?? '', /^flat: 7\.\d MB in all/);
    assert.equal(
      lines.some(({ name }) => name === 'Size of plan'),
      false,
      'a small table says nothing',
    );
  });

  for (const [what, leak, name] of [
    ['20 MB of heap an hour', { heapPerMinute: 20e6 / 60 }, 'Heap of the service after collections'],
    ['memory outside of the heap', { residentPerMinute: 30e6 / 60 }, 'Memory of the service'],
    ['a descriptor every two minutes', { descriptorsPerMinute: 0.5 }, 'Descriptors of the service'],
    ['memory of Postgres', { postgresPerMinute: 40e6 / 60 }, 'Memory of Postgres, without shared buffers'],
    ['rows that take more and more room', { rowBytesPerMinute: 5 }, 'Size of message'],
    ['a queue that vacuum does not empty', { queueBytesPerMinute: 1e5 }, 'Size of delivery_queue'],
  ] as const) {
    test(`fails for ${what}, and for nothing else`, () => {
      const lines = find({ minutes: 90, ...leak });
      assert.deepEqual(failedNames(lines), [name]);
      assert.match(lines.find((line) => line.name === name)?.found ?? '', /^grows/);
    });
  }

  test('names the slope of a leak', () => {
    const lines = find({ minutes: 90, heapPerMinute: 20e6 / 60 });
    const found = lines.find(({ name }) => name.startsWith('Heap'))?.found ?? '';
    const perHour = Number(/^grows (\d+) MB\/h/.exec(found)?.[1]);
    assert.ok(perHour >= 17 && perHour <= 23, found);
  });

  test('fails for a promise that was broken once, and says what broke it', () => {
    const broken = kept.map((each) => ({ ...each, ...(each === kept[1] && { broken: 1, first: 'text 7 is queued' }) }));
    const lines = find({ minutes: 90 }, { promises: broken });
    assert.deepEqual(failedNames(lines), ['An accepted text ends']);
    assert.match(lines[0]?.found ?? '', /text 7 is queued/);
  });

  test('fails if the run has not seen what it is for', () => {
    assert.deepEqual(failedNames(find({ minutes: 90 }, { promises: kept.slice(0, 6) })), [
      'The webhook has every event',
    ]);
  });

  test('fails if more than one answer in a hundred is slow, outside of faults', () => {
    assert.deepEqual(failedNames(find({ minutes: 90 }, { operations: timesOf(0.005) })), []);
    assert.deepEqual(failedNames(find({ minutes: 90 }, { operations: timesOf(0.02) })), ['p99 of text']);
    const slowInFaults = timesOf(0).map((each) => ({ ...each, faulty: timesOf(1)[0]?.usual ?? each.faulty }));
    assert.deepEqual(failedNames(find({ minutes: 90 }, { operations: slowInFaults })), []);
  });

  test('fails if the service ended, or the load could not be sent', () => {
    assert.deepEqual(failedNames(find({ minutes: 90 }, { ended: 'it ended with 1', left: 3 })), [
      'The service ran through',
      'The load could be sent',
    ]);
  });
});

test('a short run gives no verdict on leaks', () => {
  const lines = find({ minutes: 3, heapPerMinute: 5e6 });
  assert.deepEqual(failedNames(lines), []);
  assert.match(lines.find(({ name }) => name.startsWith('Heap'))?.found ?? '', /too short/);
  assert.deepEqual(failedNames(find({ minutes: 8, descriptorsPerMinute: 30 })), ['Descriptors of the service']);
});

describe('the ledger', () => {
  const broken = (ledger: ReturnType<typeof createLedger>) =>
    ledger
      .promises()
      .filter((each) => each.broken > 0)
      .map(({ name, first }) => `${name}: ${first}`);

  test('finds a text that was accepted and is not there, one that did not end, and one that was refused and is there', () => {
    const ledger = createLedger();
    const [good, lost, open, refused] = Array.from({ length: 4 }, () => ledger.texts.newNumber());
    for (const number of [good, lost, open]) ledger.texts.note(number ?? 0, 'accepted');
    ledger.texts.note(refused ?? 0, 'refused');
    ledger.texts.count(good ?? 0);
    const check = createTextCheck(ledger);
    check.row({ reference: 't0', status: 'delivered', failedSubmits: 0 });
    check.row({ reference: 't2', status: 'queued', failedSubmits: 0 });
    check.row({ reference: 't3', status: 'failed', failedSubmits: 0 });
    check.row({ reference: null, status: 'delivered', failedSubmits: 0 });
    check.end();
    assert.deepEqual(broken(ledger), [
      'an accepted text ends: text 2 is queued',
      'an accepted text is stored, once: text 1 was accepted and is stored 0 times',
      'a refused text is not stored: text 3 was refused and is stored 1 times',
    ]);
  });

  test('finds a text that a carrier got twice for no reason, and one that no carrier got', () => {
    const ledger = createLedger();
    for (let number = 0; number < 3; number++) ledger.texts.note(ledger.texts.newNumber(), 'accepted');
    for (const number of [0, 0, 1, 1]) ledger.texts.count(number);
    const check = createTextCheck(ledger);
    for (const [number, failedSubmits] of [1, 0, 0].entries())
      check.row({ reference: `t${number}`, status: 'delivered', failedSubmits });
    check.end();
    assert.deepEqual(broken(ledger), [
      'a text is submitted again only if the submit before failed or was in doubt: text 1 was submitted 2 times, and 0 failed',
      'a text that was sent reached a carrier: text 2 is delivered',
    ]);
  });

  test('finds an approval that two callers read, and one that the store does not know', () => {
    const ledger = createLedger();
    for (let number = 0; number < 3; number++) ledger.codes.note(ledger.codes.newNumber(), 'accepted');
    for (const number of [0, 0, 1]) ledger.codes.count(number);
    const check = createCodeCheck(ledger);
    for (const [number, status] of ['approved', 'pending', 'pending'].entries())
      check.row({ reference: `v${number}`, status });
    check.end();
    assert.deepEqual(
      ledger.promises().map(({ name, checked, broken }) => [name, checked, broken]),
      [
        ['a right code counts once', 3, 2],
        ['a verification that was started is stored, once', 3, 0],
      ],
    );
  });

  test('finds an event that one listener did not receive, and one that it received twice', () => {
    const ledger = createLedger();
    ledger.texts.newNumber();
    for (const listener of [0, 1, 2]) assert.equal(ledger.texts.hear(listener, 0, 1), true);
    for (const listener of [0, 2]) assert.equal(ledger.texts.hear(listener, 0, 2), true);
    assert.equal(ledger.texts.hear(0, 0, 2), false, 'the feed has the second event again');
    for (const sequence of [1, 2]) checkEvent(ledger, { reference: 't0', sequence, isSms: true });
    checkEvent(ledger, { reference: null, sequence: 1, isSms: true });
    assert.deepEqual(broken(ledger), ['the stream has every event: event 2 of t0 was not received']);
  });

  test('keeps hundreds of thousands of records in a few bytes each', () => {
    const { texts } = createLedger();
    for (let count = 0; count < 300_000; count++) texts.note(texts.newNumber(), 'accepted');
    texts.hear(2, 299_999, 3);
    assert.equal(texts.size, 300_000);
    assert.equal(texts.outcomeOf(299_999), 'accepted');
    assert.equal(texts.heard(2, 299_999, 3), true);
    assert.equal(texts.heard(1, 299_999, 3), false);
  });
});
