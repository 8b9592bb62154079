import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { tellFigure } from '../support/figures.ts';
import { acceptMessages, emptyTables, testVerificationId } from '../support/recording-carrier.ts';
import { stepsOf } from './delivery/model.ts';
import { createRealStores } from './delivery/real-statements.ts';
import { modelInWords, realInWords } from './delivery/real-tables.ts';
import { type Fault, initialState, type ModelStep, type Settings, type State } from './delivery/state.ts';
import { statements } from './delivery/statements.ts';
import { expiresAtMs, type TextName, tickMs } from './delivery/texts.ts';

const walks = inShort(60, 2000);
const longestWalk = 60;
let db: TestDatabase;

before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

/** Some walks have faults of a few kinds only, so that these come together. */
const kinds: (Fault[] | undefined)[] = [
  undefined,
  ['silence'],
  ['silence', 'stall', 'disconnect'],
  ['lost answer', 'failed read', 'rejection'],
  ['disconnect', 'pause'],
];

/** As the models of delivery.test.ts, in turn. */
function settingsOf(walk: number): Settings {
  const texts: TextName[][] = [['code', 'long'], ['code'], ['long']];
  return {
    nodes: walk % 2 === 0 ? 2 : 1,
    texts: texts[walk % 3] ?? ['code'],
    onDoubt: walk % 5 === 0 ? 'hold' : 'resend',
    mostFaults: 3,
    mostReceipts: 3,
    kinds: kinds[walk % kinds.length],
    isNamed: walk % 4 === 0,
    ...(walk % 7 === 0 && { scheduled: ['long'] }),
    ...(walk % 11 === 0 && { down: ['a'] }),
  };
}

/** The same walk in every run: a number for each draw, below 1. */
function createDraw(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** So that walks are long: faults are not spent at once, and callers seldom end a text before anything was sent. */
function weightOf(state: State, { name, next, ran }: ModelStep): number {
  if (name.endsWith(' late')) return 8;
  if (ran !== undefined && /cancel|end|drop/.test(ran.statement)) return 1;
  if (next.faults > state.faults) return name.includes('silent') ? 4 : 1;
  return ran === undefined ? 4 : 6;
}

function choose(state: State, steps: ModelStep[], draw: () => number): ModelStep | undefined {
  const weights = steps.map((step) => weightOf(state, step));
  let left = draw() * weights.reduce((sum, weight) => sum + weight, 0);
  return steps.find((_, index) => {
    left -= weights[index] ?? 0;
    return left < 0;
  });
}

/** Returns the names of the statements that it ran. */
async function takeWalk(walk: number): Promise<string[]> {
  const settings = settingsOf(walk);
  const clock = createTestClock();
  const startMs = clock.nowMs();
  const ids = new Map<TextName, string>();
  await emptyTables(db.database);
  for (const [index, name] of settings.texts.entries()) {
    const isLater = settings.scheduled?.includes(name);
    clock.set(startMs - 10 + index);
    const [message] = await acceptMessages({ database: db.database, clock, carrier: 'a' }, 1, {
      lane: 'first',
      expiresAtMs: startMs + expiresAtMs,
      ...(name === 'code' && { api: 'verify', verificationId: testVerificationId, body: null, template: {} }),
      ...(isLater && { status: 'scheduled', sendAtMs: startMs + tickMs }),
    });
    ids.set(name, message?.id ?? '');
  }
  const names = new Map([...ids].map(([name, id]) => [uuidOf(id), name]));
  const stores = createRealStores(db.database, clock, startMs, ids);
  const draw = createDraw(walk + 1);
  const taken: string[] = [];
  const ran: string[] = [];
  let state = initialState(settings);
  while (taken.length < longestWalk) {
    const step = choose(state, stepsOf(settings, state), draw);
    if (step === undefined) break;
    taken.push(step.name);
    clock.set(startMs + step.next.tick * tickMs);
    if (step.next.tick > state.tick) {
      const over = step.next.tables.claims.filter(({ leasedUntilMs }) => leasedUntilMs <= step.next.tick * tickMs);
      await stores.endLeases(over.map(({ id }) => id));
    }
    if (step.ran !== undefined) {
      await stores.run(step.ran, state.tables);
      ran.push(step.ran.statement);
      const real = await realInWords(db.database, names, startMs);
      assert.deepEqual(real, modelInWords(step.next.tables), `walk ${walk}:\n${taken.join('\n')}`);
    }
    state = step.next;
  }
  return ran;
}

test('walks of the model leave the same rows in Postgres, statement by statement', async () => {
  const ran: string[] = [];
  for (let walk = 0; walk < walks; walk++) ran.push(...(await takeWalk(walk)));
  const unused = Object.keys(statements).filter((name) => !ran.includes(name));
  assert.deepEqual(unused, [], 'statements that no walk has run');
  tellFigure(`delivery: ${walks} walks of the model against Postgres, ${ran.length} statements compared`);
});
