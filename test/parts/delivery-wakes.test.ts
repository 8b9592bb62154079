// What an accepted text costs the workers: its own carrier looks once more than it has to, and no other one looks.
import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../src/platform/database/database.ts';
import { type Double, startDouble } from '../providers/provider.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRunningClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { createSender, type Sender } from '../support/texts.ts';
import { createVerifyCaller } from '../support/verify-caller.ts';

/** Counts the claims by carrier. Nothing else is done because of a wake. */
function countingClaims(database: Database) {
  const claims = new Map<string, number>();
  const query: Database['query'] = (statement, values) => {
    if (typeof statement !== 'string' && statement.name.startsWith('claim-')) {
      const carrier = String(values?.[0]);
      claims.set(carrier, (claims.get(carrier) ?? 0) + 1);
    }
    return database.query(statement, values);
  };
  return { database: { ...database, query }, claims };
}

const settings = (base: string) => ({
  base,
  describe: {
    url: '{{base}}/send',
    json: { to: '{{to}}', text: '{{text}}' },
    accepted: [{ status: [200] }],
    id: 'id',
  },
});

let db: TestDatabase;
let app: TestApp;
let double: Double;
let sender: Sender;
let claims: Map<string, number>;

/** An app with this many carriers, which have room for texts and accept them. */
async function connect(carriers: number): Promise<void> {
  let given = 0;
  double = await startDouble(() => ({ status: 200, body: { id: `id-${++given}` } }));
  db = await createTestDatabase();
  const counting = countingClaims(db.database);
  claims = counting.claims;
  app = await createTestApp({ clock: createRunningClock(), db: { ...db, database: counting.database } });
  sender = await createSender(app);
  const operator = await createOperator(app);
  const body = { name: 'provider-1', kind: 'http', settings: settings(double.url) };
  const answer = await operator.send('POST', '/portal/v1/operator/carriers', body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  // The others are like it: they have no secrets that would have to be sealed for each of them.
  await db.database.query(
    `insert into carrier (name, kind, settings, created_at, updated_at)
     select 'provider-' || n, kind, settings, now(), now() from carrier, generate_series(2, $1) n`,
    [carriers],
  );
  // One more is the sandbox's own.
  await eventually('all of them run', () => app.delivery.workers().length === carriers + 1);
}
afterEach(async () => {
  await app.close();
  await double.close();
  await db.drop();
});

/** Longer than claims that belong to one text come apart: each text finds its workers asleep. */
const apartMs = 120;

/** Accepts texts one by one. Returns the claims since, by carrier, and the most that polls alone can have made. */
async function sendAll(texts: number, act: () => Promise<unknown>) {
  claims.clear();
  const startedMs = performance.now();
  for (let count = 1; count <= texts; count++) {
    await act();
    // Polls come every 2 s and every 10 s at rest: this text left because its worker was woken.
    await eventually('it has left', () => double.requests.length >= count);
    await pause(apartMs);
  }
  const tookMs = performance.now() - startedMs;
  const counts = [...claims.values()].sort((a, b) => b - a);
  // Twelve more are those of pauses that still grow.
  const polls = Math.ceil(tookMs / 2000) + Math.ceil(tookMs / 10_000) + 12;
  return { own: counts[0] ?? 0, others: counts[1] ?? 0, polls };
}

describe('an accepted text', () => {
  for (const [carriers, texts] of [
    [1, inShort(20, 40)],
    [inShort(40, 120), 20],
  ] as const) {
    test(`among ${carriers} carriers costs one poll of the queue besides its claim`, async () => {
      await connect(carriers);
      const { own, others, polls } = await sendAll(texts, () => sender.sms());
      assert.ok(own <= 2 * texts + polls, `${own} claims of its carrier for ${texts} texts`);
      assert.ok(others <= polls, `${others} claims of another carrier for ${texts} texts`);
    });
  }

  test('a text of a verification wakes only its carrier', async () => {
    await connect(8);
    const texts = inShort(20, 40);
    const caller = await createVerifyCaller(app);
    const { own, others, polls } = await sendAll(texts, () => caller.start({ to: caller.newNumber() }));
    assert.ok(own <= 2 * texts + polls, `${own} claims of its carrier for ${texts} codes`);
    assert.ok(others <= polls, `${others} claims of another carrier for ${texts} codes`);
  });
});
