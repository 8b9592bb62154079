// Texts from phones on several nodes at once: parts are joined once, words act once, and a stop word holds for all.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { createInbound } from '../../src/compose/inbound.ts';
import type { InboundText } from '../../src/delivery/carrier/carrier.ts';
import { applicationScope, senderScope } from '../../src/inbound/opt-out.ts';
import { createKeyRing, type RingVersion } from '../../src/platform/crypto/keys.ts';
import { newId } from '../../src/platform/ids.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { inShort } from '../support/effort.ts';
import { checkEvents, listen, watchStates } from '../support/event-witness.ts';

const source = { key: 'practice#1', account: '1.1' };
const number = '+447800900000';
let db: TestDatabase;
let clock: TestClock;
let ring: RingVersion[];
let nodes: ReturnType<typeof createInbound>[];
let applicationId: string;
/** Whom each answer has woken. */
let woken: (readonly string[])[];

before(async () => {
  db = await createTestDatabase();
  await watchStates(db.database);
});
after(() => db.drop());
afterEach(() => checkEvents(db.database));
beforeEach(async () => {
  clock = createTestClock();
  woken = [];
  ring = [{ version: 1, usedFromMs: 0, key: Buffer.alloc(32, 1) }];
  const keys = createKeyRing(clock, () => ring);
  const config = { optOutVerify: false };
  nodes = [db.database, db.another()].map((database) =>
    createInbound({ config, database, clock, keys, wake: (carriers) => void woken.push(carriers) }),
  );
  for (const table of ['inbound_text', 'inbound_part', 'inbound_seen', 'opt_out', 'opt_out_change', 'automatic_reply'])
    await db.database.query(`delete from ${table}`);
  await db.database.query('truncate witness, event');
  applicationId = newId('app', clock);
  await holdNumber();
  await listen(db.database, [applicationId]);
});

/** An application with the number, whose account does not matter here. */
async function holdNumber(): Promise<void> {
  const [account, at] = [newId('acc', clock), new Date(clock.nowMs()).toISOString()];
  await db.database.query('insert into account (id, name, created_at) values ($1, $1, $2)', [account, at]);
  await db.database.query(
    `insert into application (id, account_id, name, created_at, updated_at) values ($1, $2, 'ACME', $3, $3)`,
    [applicationId, account, at],
  );
  await db.database.query('delete from own_number');
  await db.database.query(
    `insert into own_number (id, number, application_id, api, created_at, updated_at)
     values (gen_random_uuid(), $1, $2, 0, $3, $3)`,
    [number, applicationId, at],
  );
}

const nodeOf = (place: number) => nodes[place % nodes.length] ?? assert.fail('there are no nodes');
const bodies = async () =>
  (await db.database.query<{ body: string }>('select body from inbound_text order by body')).rows.map(
    ({ body }) => body,
  );
const countOf = async (table: string) => (await db.database.query(`select from ${table}`)).count;

function textOf(from: string, text: string, more: Partial<InboundText> = {}): InboundText {
  return { carrierMessageId: null, from, to: number, text, part: null, ...more };
}

describe('parts', () => {
  test('of many texts, in any order, repeated, on two nodes at once: each text comes once and whole', async () => {
    const long = fc.record({
      phone: fc.integer({ min: 1, max: 3 }),
      reference: fc.integer({ min: 0, max: 1 }),
      width: fc.constantFrom(8 as const, 16 as const),
      total: fc.integer({ min: 2, max: 5 }),
    });
    const keyOf = ({
      phone,
      reference,
      width,
      total,
    }: {
      phone: number;
      reference: number;
      width: number;
      total: number;
    }) => `${phone} ${reference} ${width} ${total}`;
    const texts = fc.uniqueArray(long, { minLength: 1, maxLength: 6, selector: keyOf });
    await fc.assert(
      fc.asyncProperty(texts, fc.infiniteStream(fc.nat(1000)), async (given, stream) => {
        await db.database.query('delete from inbound_text');
        await db.database.query('delete from inbound_seen');
        const parts = given.flatMap((each) =>
          Array.from({ length: each.total }, (_, index) => {
            const part = { reference: each.reference, width: each.width, part: index + 1, total: each.total };
            return textOf(`+44770090000${each.phone}`, `(${keyOf(each)} ${index + 1})`, { part });
          }),
        );
        // Some twice, in an order that the stream decides.
        const orders = stream.take(3 * parts.length);
        const next = () => orders.next().value ?? 0;
        const sent = [...parts, ...parts.filter(() => next() % 3 === 0)]
          .map((part) => ({ part, order: next() }))
          .sort((a, b) => a.order - b.order)
          .map(({ part }) => part);
        await Promise.all(sent.map((part, index) => nodeOf(index).receiver.receive(source, [part])));
        const expected = given.map((each) =>
          Array.from({ length: each.total }, (_, index) => `(${keyOf(each)} ${index + 1})`).join(''),
        );
        assert.deepEqual(new Set(await bodies()), new Set(expected));
        assert.equal(await countOf('inbound_text'), given.length);
        assert.equal(await countOf('inbound_part'), 0);
      }),
      { numRuns: inShort(8, 200) },
    );
  });

  test('what never completes is delivered once, whichever node looks', async () => {
    const part = { reference: 1, width: 8 as const, part: 2, total: 3 };
    await nodeOf(0).receiver.receive(source, [textOf('+447700900001', 'two', { part })]);
    clock.advance(3_600_001);
    await Promise.all([0, 1, 2, 3].map((place) => nodeOf(place).receiver.deliverIncomplete()));
    assert.deepEqual(await bodies(), ['two']);
    assert.equal(await nodeOf(0).receiver.deliverIncomplete(), 0);
  });
});

describe('one inbound text on two nodes', () => {
  test('is kept once', async () => {
    const texts = Array.from({ length: 20 }, () => textOf('+447700900001', 'Hello'));
    await Promise.all(texts.map((text, place) => nodeOf(place).receiver.receive(source, [text])));
    assert.deepEqual(await bodies(), ['Hello']);
  });

  test('with an id is kept once for three days, and another id is another text', async () => {
    const text = (carrierMessageId: string) => textOf('+447700900001', 'Hello', { carrierMessageId });
    for (const id of ['a', 'a', 'b']) await nodeOf(0).receiver.receive(source, [text(id), text(id)]);
    clock.advance(2 * 86_400_000);
    await nodeOf(1).receiver.receive(source, [text('a')]);
    assert.equal(await countOf('inbound_text'), 2);
    await nodeOf(1).receiver.receive({ ...source, account: '1.2' }, [text('a')]);
    assert.equal(await countOf('inbound_text'), 3);
  });
});

describe('words', () => {
  const phone = '+447700900001';
  const word = (text: string, id: number) => textOf(phone, text, { carrierMessageId: `w${id}` });

  test('twenty stop words at once: one opt-out of each kind, one confirmation', async () => {
    const texts = Array.from({ length: 20 }, (_, id) => word(id % 2 === 0 ? 'STOP' : 'stop.', id));
    await Promise.all(texts.map((text, place) => nodeOf(place).receiver.receive(source, [text])));
    assert.equal(await countOf('opt_out'), 2);
    assert.equal(await countOf('opt_out_change'), 2);
    assert.equal(await countOf('automatic_reply'), 1);
    const { rows } = await db.database.query('select sender, recipient, carrier from message where recipient = $1', [
      phone,
    ]);
    assert.deepEqual(rows, [{ sender: number, recipient: phone, carrier: source.key }]);
    assert.deepEqual(woken, [[source.key]]);
  });

  test('stop, start, put and remove at once leave what their history says', async () => {
    const acts = Array.from({ length: 40 }, (_, id) => async () => {
      const { receiver, optOuts } = nodeOf(id);
      if (id % 4 === 0) await receiver.receive(source, [word('STOP', id)]);
      else if (id % 4 === 1) await receiver.receive(source, [word('START', id)]);
      else if (id % 4 === 2) await optOuts.put({ applicationId, api: 'sms' }, phone).catch(isExpected);
      else await optOuts.remove({ applicationId, api: 'sms' }, phone).catch(isExpected);
    });
    await Promise.all(acts.map((act) => act()));
    assert.ok((await checkEvents(db.database)) > 1, 'the application gets its event');
    const now = await nodeOf(0).optOuts.list({ number: phone }, { limit: 10, after: undefined });
    const kinds = now.map(({ kind, subject }) => `${kind} ${subject}`);
    assert.equal(new Set(kinds).size, kinds.length, 'one row for each scope');
    const { rows } = await db.database.query<{ subject: string; outs: number; ins: number }>(
      `select subject, count(*) filter (where opted_out) as outs, count(*) filter (where not opted_out) as ins
       from opt_out_change group by subject`,
    );
    for (const { subject, outs, ins } of rows) {
      const isOut = now.some((each) => each.subject === subject);
      // A person's word over the application's own is a change without an end between.
      assert.ok(outs >= ins + (isOut ? 1 : 0), `${subject}: ${outs} out, ${ins} in, ${isOut ? 'out' : 'in'}`);
    }
  });

  test('an opt-out outlives a new version of the ring, and is undone under it', async () => {
    const { receiver, optOuts } = nodeOf(0);
    await receiver.receive(source, [word('STOP', 1)]);
    ring = [{ version: 2, usedFromMs: 0, key: Buffer.alloc(32, 2) }, ...ring];
    const text = {
      id: newId('msg', clock),
      applicationId,
      api: 'sms' as const,
      to: phone,
      sender: 'ACME',
      sentAs: null,
    };
    assert.deepEqual(await optOuts.find(db.database, [text]), new Set([text.id]));
    await receiver.receive(source, [word('STOP', 2)]);
    assert.equal(await countOf('opt_out'), 2);
    await receiver.receive(source, [word('START', 3)]);
    assert.deepEqual(await optOuts.find(db.database, [text]), new Set());
    assert.equal(await countOf('opt_out'), 0);
  });

  test('the sender that a text really leaves as decides, in any spelling', async () => {
    const { optOuts } = nodeOf(0);
    const scopes = ['+4478009', 'AcMe'].map((sender) => ({ ...senderScope(sender), notified: null }));
    await db.database.transaction((tx) => optOuts.stop(tx, phone, scopes, 'STOP'));
    const base = { applicationId, api: 'messaging' as const, to: phone };
    const cases: [string, string | null, boolean][] = [
      ['4478009', null, true],
      ['+4478009', null, true],
      ['ACME', null, true],
      ['Other', '+4478009', true],
      ['ACME', 'Other', false],
      ['80123', null, false],
    ];
    for (const [sender, sentAs, isUnwanted] of cases) {
      const text = { ...base, id: newId('msg', clock), sender, sentAs };
      assert.equal((await optOuts.find(db.database, [text])).has(text.id), isUnwanted, `${sender} as ${sentAs}`);
    }
    const scope = { ...applicationScope(applicationId), notified: null };
    await db.database.transaction((tx) => optOuts.stop(tx, phone, [scope], 'STOP'));
    const code = { ...base, api: 'verify' as const, id: newId('msg', clock), sender: 'ACME', sentAs: null };
    assert.equal((await optOuts.find(db.database, [code])).size, 0, 'codes are exempt');
  });
});

/** What put and remove answer if others were quicker. */
function isExpected(error: Error): void {
  assert.match(error.message, /Not found|opted out by a text/);
}
