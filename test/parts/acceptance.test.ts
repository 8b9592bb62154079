// Acceptance: segments of the day, opt-outs and stored answers, in one commit.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { createAcceptance, isMessage, type SendOutcome } from '../../src/messages/acceptance.ts';
import type { Message } from '../../src/messages/message.ts';
import { insertUnlessOptOuts } from '../../src/messages/message-insert-store.ts';
import { createMessageService } from '../../src/messages/message-service.ts';
import { newMessage } from '../../src/messages/new-message.ts';
import { noOptOuts, type OptOutCheck } from '../../src/messages/opt-out-check.ts';
import { measure } from '../../src/messages/text/text.ts';
import { dayMs, systemClock } from '../../src/platform/clock.ts';
import type { Database } from '../../src/platform/database/database.ts';
import type { AnswerToKeep } from '../../src/platform/database/idempotency.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { routeTo } from '../support/routes.ts';

let db: TestDatabase;
before(async () => {
  db = await createTestDatabase();
});
after(() => db.drop());

/** Numbers that end in 9 belong to people who opted out. */
const optedOut: OptOutCheck = {
  none: () => false,
  noteSome: () => {},
  find: async (_tx, messages) => new Set(messages.filter(({ to }) => to.endsWith('9')).map(({ id }) => id)),
};

const create = (database: Database = db.database, optOuts: OptOutCheck = optedOut) =>
  createAcceptance({ database, clock: systemClock, optOuts });

function textOf(applicationId: string, segmentCount: number, isOptedOut = false): Message {
  const nowMs = systemClock.nowMs();
  return newMessage({
    ...{
      id: newId('msg', systemClock),
      applicationId,
      api: 'sms',
      channel: 'sms',
      sender: 'ACME',
      body: 'x',
      lane: 'bulk',
    },
    ...{ to: isOptedOut ? '+447400000009' : '+447400000001', correlationId: newId('req', systemClock) },
    ...{ nowMs, expiresAtMs: nowMs + 60_000, segments: { ...measure('x'), count: segmentCount } },
    route: { carrier: 'test', sentAs: null, deferredUntilMs: null, routing: undefined },
  });
}

/** Keeps the outcomes as the answer. */
function keeping(correlationId: string) {
  const hash = Buffer.from(correlationId);
  return (outcomes: readonly SendOutcome[]): AnswerToKeep => {
    const sealedBody = Buffer.from(JSON.stringify(outcomes.map(wordFor)));
    return {
      status: 200,
      location: null,
      correlationId,
      keptForMs: dayMs,
      rows: [{ hash, payloadHash: hash, sealedBody }],
    };
  };
}

const wordFor = (outcome: SendOutcome) => (isMessage(outcome) ? outcome.status : outcome.code);

async function readState(applicationIds: string[]) {
  const uuids = applicationIds.map(uuidOf);
  const { rows } = await db.database.query<{ spent: number; queued: number; failed: number; ends: number }>(
    `select coalesce((select segments from spend_day where application_id = a.id), 0) as spent,
       (select count(*) from delivery_queue q join message m on m.id = q.message_id
         where q.application_id = a.id and m.status = 1 and m.error_code is null) as queued,
       (select count(*) from message where application_id = a.id and status = 5 and error_code = 3) as failed,
       (select count(*) from message_end where application_id = a.id and status = 5) as ends
     from unnest($1::uuid[]) with ordinality as a(id, place) order by place`,
    [uuids],
  );
  return rows;
}

/** What a list of items should become, one text after the other. */
function model(items: Item[], limits: (number | null)[]) {
  const spent = limits.map(() => 0);
  return items.map(({ application, texts }) => {
    const limit = limits[application] ?? Number.POSITIVE_INFINITY;
    return texts.map(({ segments, out }) => {
      const left = limit - (spent[application] ?? 0);
      if (left < (out ? 1 : segments)) return 'SPEND_LIMIT';
      if (out) return 'failed';
      spent[application] = (spent[application] ?? 0) + segments;
      return 'queued';
    });
  });
}

interface Item {
  application: number;
  keyed: boolean;
  texts: { segments: number; out: boolean }[];
}

const itemsArbitrary = fc.array(
  fc.record({
    application: fc.nat(2),
    keyed: fc.boolean(),
    texts: fc.array(fc.record({ segments: fc.integer({ min: 1, max: 4 }), out: fc.boolean() }), { maxLength: 5 }),
  }),
  { maxLength: 8 },
);
const limitsArbitrary = fc.tuple(
  ...Array.from({ length: 3 }, () => fc.option(fc.integer({ min: 0, max: 12 }), { nil: null })),
);

describe('acceptance', () => {
  test('property: one caller after the other gets what the rules say, and the rows agree', async () => {
    await fc.assert(
      fc.asyncProperty(itemsArbitrary, limitsArbitrary, async (items, limits) => {
        const accepted = create();
        const ids = limits.map(() => newId('app', systemClock));
        const outcomes: string[][] = [];
        for (const { application, keyed, texts } of items) {
          const applicationId = ids[application] ?? '';
          const messages = texts.map(({ segments, out }) => textOf(applicationId, segments, out));
          const keep = keyed ? keeping(newId('req', systemClock)) : () => undefined;
          const spender = { applicationId, segmentsPerDay: limits[application] ?? null };
          const result = await accepted.submit({ spender, messages, keep, kept: keep(messages) });
          outcomes.push(result.map(wordFor));
        }
        assert.deepEqual(outcomes, model(items, limits));
        const state = await readState(ids);
        state.forEach(({ spent, queued, failed, ends }, application) => {
          const own = items.flatMap((item, index) =>
            item.application === application
              ? item.texts.map(({ segments }, place) => ({ segments, became: outcomes[index]?.[place] }))
              : [],
          );
          const sent = own.filter(({ became }) => became === 'queued');
          const segments = sent.reduce((sum, text) => sum + text.segments, 0);
          const blocked = own.filter(({ became }) => became === 'failed').length;
          const counted = limits[application] === null ? 0 : segments;
          assert.deepEqual(
            { spent, queued, failed, ends },
            { spent: counted, queued: sent.length, failed: blocked, ends: blocked },
          );
        });
      }),
      { numRuns: 60 },
    );
  });

  test('property: callers at once never spend more than the limit, and spend all that fits', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 60 }), fc.boolean(), async (limit, keyed) => {
        const nodes = [create(db.database, noOptOuts), create(db.database, noOptOuts), create()];
        const applicationId = newId('app', systemClock);
        const spender = { applicationId, segmentsPerDay: limit };
        const results = await Promise.all(
          Array.from({ length: 60 }, (_, i) => {
            const messages = [textOf(applicationId, 1)];
            const keep = keyed && i % 2 === 0 ? keeping(newId('req', systemClock)) : () => undefined;
            return nodes[i % 3]?.submit({ spender, messages, keep, kept: keep(messages) });
          }),
        );
        const accepted = results.flat().filter((outcome) => outcome !== undefined && isMessage(outcome));
        assert.equal(accepted.length, limit);
        const [state] = await readState([applicationId]);
        assert.deepEqual([state?.spent ?? 0, state?.queued], [limit, limit]);
      }),
      { numRuns: 8 },
    );
  });

  test('many applications in one batch: each has its own limit, and none waits for another in a circle', async () => {
    const ids = Array.from({ length: 30 }, () => newId('app', systemClock));
    const nodes = [create(db.database, noOptOuts), create(db.database, noOptOuts)];
    const outcomes = await Promise.all(
      Array.from({ length: 600 }, async (_, i) => {
        const applicationId = ids[(i * 7) % 30] ?? '';
        const messages = [textOf(applicationId, 1)];
        const spender = { applicationId, segmentsPerDay: 10 };
        const keep = i % 5 === 0 ? keeping(newId('req', systemClock)) : () => undefined;
        return nodes[i % 2]?.submit({ spender, messages, keep, kept: keep(messages) });
      }),
    );
    assert.equal(outcomes.flat().filter((outcome) => outcome !== undefined && isMessage(outcome)).length, 300);
    assert.ok(
      (await readState(ids)).every(({ spent, queued }) => spent === 10 && queued === 10),
      'ten each',
    );
  });

  test('the answer to a commit is lost: it runs again, counts once, and says what was written', async () => {
    for (const [keyed, limit, lost] of [
      [false, 6, 1],
      [false, 3, 1],
      [false, 3, 2],
      [true, 6, 1],
      [true, 3, 1],
    ] as const) {
      const applicationId = newId('app', systemClock);
      const accepted = create(losesAnswer(lost, db.database), keyed ? optedOut : noOptOuts);
      const messages = [textOf(applicationId, 2), textOf(applicationId, 3), textOf(applicationId, 1)];
      const keep = keyed ? keeping(newId('req', systemClock)) : () => undefined;
      const spender = { applicationId, segmentsPerDay: limit };
      const result = await accepted.submit({ spender, messages, keep, kept: keep(messages) });
      assert.deepEqual(result.map(wordFor), ['queued', limit === 6 ? 'queued' : 'SPEND_LIMIT', 'queued']);
      const [state] = await readState([applicationId]);
      assert.deepEqual([state?.spent, state?.queued], limit === 6 ? [6, 3] : [3, 2]);
    }
  });

  test('acceptance without a limit stores each text once, also when the first run still goes on', async () => {
    const applicationId = newId('app', systemClock);
    const messages = [textOf(applicationId, 1), textOf(applicationId, 1)];
    const accepted = create(losesAnswer(1, db.database), noOptOuts);
    const keep = () => undefined;
    const spender = { applicationId, segmentsPerDay: null };
    const result = await accepted.submit({ spender, messages, keep, kept: undefined });
    assert.deepEqual(result.map(wordFor), ['queued', 'queued']);

    const late = textOf(applicationId, 1);
    let again: Promise<boolean> | undefined;
    await db.database.transaction(async (tx) => {
      assert.equal(await insertUnlessOptOuts(tx, [late], false), true);
      again = insertUnlessOptOuts(db.another(), [late], true);
      await new Promise((done) => setTimeout(done, 50));
    });
    assert.equal(await again, true);
    assert.equal((await readState([applicationId]))[0]?.queued, 3);
  });

  test('a key that another request holds refuses only its own item, and counts nothing for it', async () => {
    const applicationId = newId('app', systemClock);
    const spender = { applicationId, segmentsPerDay: 100 };
    const key = newId('req', systemClock);
    const taken = (correlationId: string) => (outcomes: readonly SendOutcome[]) => {
      const answer = keeping(correlationId)(outcomes);
      return { ...answer, rows: answer.rows.map((row) => ({ ...row, hash: Buffer.from(key) })) };
    };
    const nodes = [create(db.database, noOptOuts), create(db.database, noOptOuts)];
    const results = await Promise.allSettled(
      nodes.map((node, i) => {
        const messages = [textOf(applicationId, 1)];
        const keep = taken(`other ${i}`);
        return node.submit({ spender, messages, keep, kept: keep(messages) });
      }),
    );
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const [state] = await readState([applicationId]);
    assert.deepEqual([state?.spent, state?.queued], [1, 1]);
  });
});

test('a commit wakes the carriers of texts that may leave at once, each once, and no others', async () => {
  const woken: (readonly string[])[] = [];
  const service = createMessageService({
    ...{ database: db.database, clock: systemClock, routeText: routeTo('test'), optOuts: optedOut },
    wake: (carriers) => void woken.push(carriers),
  });
  const applicationId = newId('app', systemClock);
  const spender = { applicationId, segmentsPerDay: null };
  const laterMs = systemClock.nowMs() + 60_000;
  const accept = (changes: Partial<Message>[]) =>
    service.accept(
      spender,
      changes.map((change) => ({ ...textOf(applicationId, 1), ...change })),
      () => undefined,
    );
  await accept([{ carrier: 'a#1' }, { carrier: 'b#2' }, { carrier: 'a#1' }]);
  await accept([
    { carrier: 'a#1', status: 'scheduled', sendAtMs: laterMs },
    { carrier: 'b#2', deferredUntilMs: laterMs },
    { carrier: 'c#3', to: '+447400000009' },
  ]);
  assert.deepEqual(woken, [['a#1', 'b#2'], []]);
});

/** Does its work, and after the n-th write says that the connection was lost. */
function losesAnswer(n: number, database: Database): Database {
  let writes = 0;
  const lose = <Value>(value: Value): Value => {
    if (++writes !== n) return value;
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  };
  const isWrite = (statement: unknown) =>
    /^with (spending|anyone|inserted)/.test((statement as { text?: string }).text ?? '');
  return {
    ...database,
    query: async (statement, values) => {
      const rows = await database.query<never>(statement, values);
      return isWrite(statement) ? lose(rows) : rows;
    },
    transaction: async (work) => lose(await database.transaction(work)),
  };
}
