import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Receipt } from '../../src/delivery/carrier/carrier.ts';
import { createReceipts } from '../../src/delivery/receipts/receipts.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestLog } from '../support/log.ts';
import { emptyTables } from '../support/recording-carrier.ts';

let db: TestDatabase;
let clock: TestClock;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());
beforeEach(async () => {
  clock = createTestClock();
  await emptyTables(db.database);
});

const most = 100;
const checkEvery = 10;
const source = (account: string) => ({ key: account, account });

/** The receipts of one process. */
function createProcess() {
  const counts: Record<string, number> = {};
  const { log, lines } = createTestLog();
  const receipts = createReceipts({
    database: db.database,
    clock,
    log,
    unmatched: { most, checkEvery },
    onCount: (_, name, by) => {
      counts[name] = (counts[name] ?? 0) + by;
    },
  });
  return { receipts, counts, lines };
}

function forNobody(name: string, count: number): Receipt[] {
  return Array.from({ length: count }, (_, each) => {
    const id = `${name}-${each}`;
    return { carrierMessageId: id, keys: [id], numbers: [], messageId: null, outcome: 'delivered', error: null };
  });
}

async function kept(account: string): Promise<string[]> {
  const { rows } = await db.database.query<{ id: string }>(
    'select carrier_message_id as id from unmatched_receipt where account = $1 order by id',
    [account],
  );
  return rows.map(({ id }) => id);
}

describe('receipts that match no text', () => {
  test('an account has a maximum: the oldest are dropped, counted and logged', async () => {
    const { receipts, counts, lines } = createProcess();
    for (let time = 0; time < 30; time++) await receipts.apply(source('a'), forNobody(`t${time}`, checkEvery));
    const left = await kept('a');
    assert.equal(left.length, most);
    assert.ok(left.includes('t29-0') && !left.includes('t0-0'), 'the newest stay');
    assert.equal(counts.dropped, 200);
    assert.ok(lines.some((line) => line.includes('receipts that match no text were dropped')));
  });

  test('another account loses none', async () => {
    const { receipts } = createProcess();
    await receipts.apply(source('quiet'), forNobody('q', 5));
    for (let time = 0; time < 20; time++) await receipts.apply(source('a'), forNobody(`t${time}`, checkEvery));
    assert.equal((await kept('quiet')).length, 5);
  });

  test('processes that write at the same time pass the cap by what each adds between two looks', async () => {
    const processes = [createProcess(), createProcess(), createProcess()];
    const write = async ({ receipts }: (typeof processes)[number], place: number) => {
      for (let time = 0; time < 30; time++) await receipts.apply(source('a'), forNobody(`p${place}t${time}`, 7));
    };
    await Promise.all(processes.map(write));
    const { length } = await kept('a');
    assert.ok(length <= most + processes.length * (checkEvery + 7), `${length} are kept`);
    assert.ok(length >= most, `${length} are kept`);
  });

  test('a process that starts checks the cap at once', async () => {
    await createProcess().receipts.apply(source('a'), forNobody('old', 3 * most));
    await createProcess().receipts.apply(source('a'), forNobody('new', 1));
    assert.equal((await kept('a')).length, most);
  });

  test('none are kept of a carrier that gives no receipts', async () => {
    const { receipts, counts } = createProcess();
    await receipts.apply({ ...source('a'), awaitsReceipts: false }, forNobody('t', 5));
    assert.deepEqual(await kept('a'), []);
    assert.equal(counts.received, 5);
  });
});
