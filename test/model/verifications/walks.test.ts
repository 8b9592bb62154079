// The model's steps are what the stores do: random runs of both, compared after each step.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/platform/clock.ts';
import type { KeyRing } from '../../../src/platform/crypto/keys.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { uuidOf } from '../../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { inShort } from '../../support/effort.ts';
import { eventually } from '../../support/eventually.ts';
import { tellFigure } from '../../support/figures.ts';
import { openTestKeyRing } from '../../support/key-ring.ts';
import { steps } from './model.ts';
import { createRealNumber } from './real-number.ts';
import { firstState, type State, type Ver } from './state.ts';

let db: TestDatabase;
let database: Database;
let keys: KeyRing;
before(async () => {
  db = await createTestDatabase();
  database = db.another({ poolSize: 8 });
  keys = await openTestKeyRing(db.database, systemClock);
});
after(() => db.drop());

const below = (count: number) => Math.floor(Math.random() * count);
const times = <Item>(count: number, make: () => Item) => Array.from({ length: count }, make);
const oneOf = <Item>(items: readonly Item[]) => items[below(items.length)] as Item;

function anyStart(): State {
  return firstState({
    starts: times(2 + below(6), () => ({
      ...{ length: oneOf([6, 8]), code: oneOf([0, 0, 1, 2, 3]), losses: oneOf([0, 0, 1]) },
    })),
    checks: times(4 + below(12), () => ({
      ...{ target: below(4), isRight: below(5) === 0, hasKey: below(3) === 0, losses: oneOf([0, 0, 1]) },
    })),
    cancels: [below(4)],
    ticks: 6,
    countsStarts: below(2) === 0,
    failuresBefore: oneOf([0, 0, 4, 10, 13]),
  });
}

/** What the tables must show of the model's verifications. */
function shown({ status, attempts, ...ver }: Ver) {
  const { length, maxAttempts, sends, resendAt, expiresAt, texts, textsCanceled, events } = ver;
  const isPending = status === 'pending';
  return {
    ...{ length, status, attempts, maxAttempts, sends, resendAt, expiresAt, texts, textsCanceled, events },
    pending: isPending ? 1 : 0,
    ended: isPending ? 0 : 1,
    failures: isPending ? 0 : attempts,
    given: ver.code !== 0,
    sealed: isPending && ver.code !== 0 ? 1 : 0,
  };
}

/** Returns how many steps it had. */
async function walk(): Promise<number> {
  let state = anyStart();
  const real = await createRealNumber(database, keys, state);
  const run: string[] = [];
  try {
    for (;;) {
      const possible = steps(state);
      if (possible.length === 0) return run.length;
      const { name, next } = oneOf(possible);
      run.push(name);
      await real.step(name, state);
      state = next;
      assert.deepEqual(await real.read(), state.vers.map(shown));
    }
  } catch (error) {
    throw new Error(`${run.join('\n')}\n${error}`);
  } finally {
    await real.finish();
  }
}

const walks = inShort(15, 2000);
test(`${walks} random runs of the model, made on the real stores`, async () => {
  let made = 0;
  for (let each = 0; each < walks; each++) made += await walk();
  tellFigure(`verifications: ${walks} walks of the model on Postgres, ${made} steps compared`);
});

test('of two starts that arrive together, the second counts the wrong codes of the first: fifteen a day', async () => {
  const state = firstState({ starts: [{ length: 6 }, { length: 8 }], countsStarts: false, failuresBefore: 14 });
  const real = await createRealNumber(database, keys, state);
  const [first, second] = [real.startOf(0), real.startOf(1)];
  while (first.standsBefore() !== 'insert-verification-starts') await first.goOn();
  let isOver = false;
  const finished = second.finish().then(() => {
    isOver = true;
  });
  const isWaiting = async () =>
    (
      await database.query(
        'select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())',
      )
    ).count > 0;
  await eventually('the second start waits or is over', async () => isOver || (await isWaiting()));
  await real.spend(second.outcome().answer?.verification.id);
  await first.finish();
  await finished;
  for (const start of [first, second]) await real.spend(start.outcome().answer?.verification.id);
  const { rows } = await database.query<{ wrong: number }>(
    'select sum(attempts)::integer as wrong from verification where application_id = $1',
    [uuidOf(real.applicationId)],
  );
  assert.equal(14 + (rows[0]?.wrong ?? 0), 15, 'wrong codes in a day');
});
