// Carriers.md, section 6: what becomes of a text whose carrier does not take it. The real app and database, scripted
// SMSCs, and a clock that stands still until the test turns it.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { decodeText } from '../../src/smpp/charset.ts';
import type { Pdu } from '../../src/smpp/pdu.ts';
import { statuses } from '../../src/smpp/pdu.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { type CarrierWorld, createCarrierWorld, receiptOf } from '../support/carrier-world.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Script, type ScriptedSmsc, startScriptedSmsc } from '../support/scripted-smsc.ts';

let app: TestApp;
let world: CarrierWorld;
let token: string;
const opened: ScriptedSmsc[] = [];
before(async () => {
  app = await createTestApp();
  world = await createCarrierWorld(app);
  token = await getToken(app, world.sender.client, 'verify:manage');
});
after(() => app.close());
afterEach(async () => {
  await routes([]);
  await world.disconnect();
  await Promise.all(opened.splice(0).map((smsc) => smsc.close()));
  // What one test leaves behind is not sent in the next.
  await app.db.database.query('truncate delivery_queue, delivery_schedule');
});

async function start(...given: Parameters<typeof startScriptedSmsc>): Promise<ScriptedSmsc> {
  const smsc = await startScriptedSmsc(...given);
  opened.push(smsc);
  return smsc;
}

/** Two carriers, by name in this order. */
async function connectTwo(first: Script, second: Script, settings: Record<string, unknown> = {}) {
  const [a, b] = [await start(first), await start(second)];
  await world.connect(a.port, settings, { name: 'first' });
  await world.connect(b.port, settings, { name: 'second' });
  return { a, b };
}

const path = '/portal/v1/operator/routes';

async function routes(list: Record<string, unknown>[]): Promise<void> {
  const { body } = await world.operator.send<{ version: number }>('GET', path);
  const answer = await world.operator.send('PUT', path, { version: body.version, routes: list });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

const firstThenSecond = { name: 'all', match: {}, carriers: [{ carrier: 'first', weight: 1 }], failover: ['second'] };

function answerWith(status: number): Script {
  return (pdu, peer) => {
    if (pdu.command !== 'submit_sm') return false;
    peer.send({ command: 'submit_sm_resp', status, sequence: pdu.sequence, messageId: '', tlvs: [] });
    return true;
  };
}

const silent: Script = (pdu) => pdu.command === 'submit_sm';

/** Answers a submit, and reports it. */
function reporting(stat: string, more = ''): Script {
  return (pdu, peer) => {
    if (pdu.command !== 'submit_sm') return false;
    const id = `r${pdu.sequence}-${peer.number}-${stat}`;
    const shortMessage = Buffer.from(`id:${id} sub:001 dlvrd:001 stat:${stat} err:000 text:Hello ${more}`);
    peer.send(accepted(pdu, id), receiptOf(id, { sequence: pdu.sequence, source: pdu.destination, shortMessage }));
    return true;
  };
}
const delivering = reporting('DELIVRD');

function accepted({ sequence }: Pdu, messageId: string): Pdu {
  return { command: 'submit_sm_resp', status: 0, sequence, messageId, tlvs: [] };
}

let numbers = 0;

/** Each verification has a number of its own. */
async function verify(to = `+4477009${String(10_000 + numbers++)}`): Promise<string> {
  const body = { to, channel: 'sms' };
  const answer = await send<{ id: string }>(app, 'POST', '/verify/v1/verifications', { body, headers: bearer(token) });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.id;
}

const textsAt = (smsc: ScriptedSmsc) =>
  smsc.ledger('submit_sm').map(({ shortMessage }) => decodeText(shortMessage, 'gsm7'));

async function codeStatus(verification: string): Promise<string> {
  const headers = bearer(token);
  const { body } = await send<{ delivery?: { status: string } }>(
    app,
    'GET',
    `/verify/v1/verifications/${verification}`,
    {
      headers,
    },
  );
  return body.delivery?.status ?? '';
}

interface Row {
  carrier: string;
  attempt: number;
  outcome: number;
  movedTo: string | null;
  routeName: string | null;
  atMs: number;
}

async function attempts(): Promise<Row[]> {
  const { rows } = await app.db.database.query<Row>(
    `select split_part(carrier, '#', 1) as carrier, attempt, outcome, split_part(moved_to, '#', 1) as "movedTo",
       route_name as "routeName", submitted_at as "atMs" from text_attempt order by message_id desc, attempt limit 10`,
  );
  return rows;
}

describe('codes go on at once', () => {
  for (const [name, status] of [
    ['route refusal', 0x45],
    ['number refusal', 0x0b],
    ['content refusal', 0x66],
    ['system error', 0x08],
  ] as const) {
    test(`after a ${name}, with the same code`, async () => {
      const { a, b } = await connectTwo(answerWith(status), delivering);
      const id = await verify();
      await b.arrived('submit_sm');
      assert.deepEqual(textsAt(b), textsAt(a));
      await world.turnUntil('it is delivered', async () => (await codeStatus(id)) === 'delivered');
      const [first] = await attempts();
      assert.deepEqual([first?.carrier, first?.movedTo], ['first', 'second']);
    });
  }

  test('when the carrier refuses the account, and then no code is given to it', async () => {
    const { a, b } = await connectTwo(answerWith(0x0e), delivering);
    await verify();
    await b.arrived('submit_sm', 1);
    await eventually('the breaker is known', async () => (await openOf('first')).includes('*'));
    for (let n = 0; n < 3; n++) await verify();
    await b.arrived('submit_sm', 4);
    assert.equal(a.ledger('submit_sm').length, 1);
  });

  test('when the carrier throttles for longer than 3 s, and not before', async () => {
    const { a, b } = await connectTwo(answerWith(statuses.throttled), delivering);
    const id = await verify();
    await a.arrived('submit_sm');
    await world.turnUntil('it has gone on', () => b.ledger('submit_sm').length === 1);
    assert.ok(a.ledger('submit_sm').length >= 3, `it was tried ${a.ledger('submit_sm').length} times before`);
    await world.turnUntil('it is delivered', async () => (await codeStatus(id)) === 'delivered');
  });

  test('an opt-out holds everywhere', async () => {
    const { a, b } = await connectTwo(answerWith(0x0b), delivering, {
      submit_errors: { '0x0b': 'never:blocked_by_recipient' },
    });
    const id = await verify();
    await a.arrived('submit_sm');
    await world.turnUntil('it has failed', async () => (await codeStatus(id)) === 'failed');
    assert.equal(b.ledger('submit_sm').length, 0);
  });

  test('once: the second carrier is the last', async () => {
    const { a, b } = await connectTwo(answerWith(0x45), answerWith(0x45));
    const id = await verify();
    await world.turnUntil('it has failed', async () => (await codeStatus(id)) === 'failed');
    assert.deepEqual([a.ledger('submit_sm').length, b.ledger('submit_sm').length], [1, 1]);
  });
});

async function openOf(name: string): Promise<string[]> {
  const { rows } = await app.db.database.query<{ open: string[] | null }>(
    `select state -> 'open' as open from carrier_bind join carrier c on c.id = carrier_id where c.name = $1`,
    [name],
  );
  return rows.flatMap(({ open }) => open ?? []);
}

describe('a carrier is down', () => {
  /** Texts that wait for a paused carrier. */
  async function queueOn(count: number): Promise<{ codes: string[]; bulk: string[] }> {
    const codes = await Promise.all(Array.from({ length: count }, () => verify()));
    const bulk = await Promise.all(Array.from({ length: count }, (_, n) => world.send({ to: `+44770091${1000 + n}` })));
    return { codes, bulk };
  }

  async function deliver(count: number): Promise<void> {
    const codes = await Promise.all(Array.from({ length: count }, () => verify()));
    for (const id of codes)
      await world.turnUntil('it is delivered', async () => (await codeStatus(id)) === 'delivered');
  }

  test('queued codes leave on the next one at once; other texts stay', async () => {
    // The window is full with these, so that what follows waits in the queue.
    const { a, b } = await connectTwo(silent, delivering, { window: 1 });
    await routes([firstThenSecond]);
    await verify();
    await a.arrived('submit_sm');
    const { codes } = await queueOn(5);
    for (const peer of a.peers) peer.reset();
    a.follow((_, peer) => {
      peer.reset();
      return true;
    });
    await b.arrived('submit_sm', 6);
    for (const id of codes)
      await world.turnUntil('it is delivered', async () => (await codeStatus(id)) === 'delivered');
    const stays = await app.db.database.query(`select from delivery_queue where carrier like 'first#%' and lane = 1`);
    assert.equal(stays.count + a.ledger('submit_sm').length - 1, 5, 'every other text is where it was');
    assert.equal(b.ledger('submit_sm').length, 6);
  });

  test('texts of a paused carrier move as those of one that is down', async () => {
    const { a, b } = await connectTwo(delivering, delivering);
    await routes([firstThenSecond]);
    const { status } = await world.operator.send('POST', '/portal/v1/operator/carriers/first/pause', {});
    assert.equal(status, 200);
    // The worker hears of the pause a moment after the answer.
    await world.turnUntil('a code has gone on', async () => {
      await deliver(1);
      return b.ledger('submit_sm').length > 0;
    });
    const before = [a.ledger('submit_sm').length, b.ledger('submit_sm').length];
    await deliver(5);
    const after = [a.ledger('submit_sm').length, b.ledger('submit_sm').length];
    assert.deepEqual(after, [before[0], (before[1] ?? 0) + 5]);
  });

  const refusing: Script = (_, peer) => {
    peer.reset();
    return true;
  };

  async function connectWithFirstDown() {
    const [a, b] = [await start(refusing), await start(delivering)];
    await world.connect(a.port, {}, { name: 'first', wait: false });
    await world.connect(b.port, {}, { name: 'second' });
    return { a, b };
  }

  const sendBulk = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => world.send({ to: `+44770092${1000 + n}` })));

  test('other texts go on after a minute, at the rate of their route', async () => {
    const { a, b } = await connectWithFirstDown();
    await routes([{ ...firstThenSecond, failover_bulk: { per_minute: 120 } }]);
    const bulk = await sendBulk(5);
    const [code] = [await verify()];
    await world.turnUntil('the code is delivered', async () => (await codeStatus(code)) === 'delivered');
    assert.equal(b.ledger('submit_sm').length, 1, 'the code alone has gone on');
    const fromMs = app.clock.nowMs();
    app.clock.advance(59_000);
    for (const id of bulk) await world.untilStatus(id, 'delivered');
    assert.equal(a.ledger('submit_sm').length, 0);
    const moves = (await attempts()).filter(({ movedTo }) => movedTo === 'second').slice(0, 5);
    assert.deepEqual(
      moves.map(({ carrier, routeName }) => [carrier, routeName]),
      Array.from({ length: 5 }, () => ['first', 'all']),
    );
    const times = moves.map(({ atMs }) => atMs).sort((x, y) => x - y);
    assert.ok((times[0] ?? 0) >= fromMs + 59_000, 'the first one waits for a minute');
    // Two at first, which the second before has left unused, then one every half second.
    for (const [n, atMs] of times.entries()) {
      const tookMs = atMs - (times[0] ?? 0);
      assert.ok(tookMs >= (n - 1) * 500, `${n + 1} texts have moved within ${tookMs} ms`);
    }
  });

  test('without failover_bulk they wait, and leave when it is back', async () => {
    const { a, b } = await connectWithFirstDown();
    await routes([firstThenSecond]);
    const bulk = await sendBulk(3);
    app.clock.advance(120_000);
    // Codes have moved, so the other texts have been checked.
    const code = await verify();
    await world.turnUntil('the code is delivered', async () => (await codeStatus(code)) === 'delivered');
    assert.equal(b.ledger('submit_sm').length, 1);
    a.follow(delivering);
    for (const id of bulk) await world.untilStatus(id, 'delivered');
    assert.equal(a.ledger('submit_sm').length, 3);
  });
});

describe('a plain text', () => {
  test('goes on after a route refusal', async () => {
    const { b } = await connectTwo(answerWith(0x45), delivering);
    await world.untilStatus(await world.send(), 'delivered');
    assert.equal(b.ledger('submit_sm').length, 1);
  });

  test('does not after a number refusal', async () => {
    const { b } = await connectTwo(answerWith(0x0b), delivering);
    await world.untilStatus(await world.send(), 'failed');
    assert.equal(b.ledger('submit_sm').length, 0);
  });

  test('a plain text that may have been sent never moves, even if the carrier refuses its copy', async () => {
    const { a, b } = await connectTwo(silent, delivering, { on_doubt: 'resend', on_doubt_seconds: 0 });
    const id = await world.send();
    await a.arrived('submit_sm');
    a.follow(answerWith(0x45));
    for (const peer of a.peers) peer.reset();
    await world.turnUntil('its copy is refused', async () => a.ledger('submit_sm').length === 2);
    await world.untilStatus(id, 'failed');
    assert.equal(b.ledger('submit_sm').length, 0);
  });
});

describe('a code that the first carrier could not deliver', () => {
  test('is sent once more by the next one, and stays sent meanwhile', async () => {
    const { a, b } = await connectTwo(reporting('UNDELIV'), silent);
    const id = await verify();
    await b.arrived('submit_sm');
    assert.deepEqual(textsAt(b), textsAt(a));
    assert.equal(await codeStatus(id), 'sent');
    b.follow(delivering);
    app.clock.advance(6000);
    await world.turnUntil('it is delivered', async () => (await codeStatus(id)) === 'delivered');
  });

  test('the last outcome of a code that two carriers tried counts', async () => {
    const { b } = await connectTwo(reporting('UNDELIV'), reporting('UNDELIV'));
    const id = await verify();
    await b.arrived('submit_sm');
    await world.turnUntil('it is undelivered', async () => (await codeStatus(id)) === 'undelivered');
    assert.equal(b.ledger('submit_sm').length, 1);
  });

  test('a code stays with its carrier if the phone cannot be reached', async () => {
    const { b } = await connectTwo(reporting('UNDELIV'), delivering, { errors: { '000': 'unreachable' } });
    const id = await verify();
    await world.turnUntil('it is undelivered', async () => (await codeStatus(id)) === 'undelivered');
    assert.equal(b.ledger('submit_sm').length, 0);
  });
});

describe('the breaker of a country', () => {
  /** Twenty codes that the first carrier cannot take. */
  async function open() {
    const two = await connectTwo(answerWith(0x08), delivering);
    for (let n = 0; n < 20; n++) await verify();
    await two.b.arrived('submit_sm', 20);
    await eventually('it is open', async () => (await openOf('first')).includes('GB'));
    return two;
  }

  test('is open after 20 failures: codes leave on the next carrier, and one in 5 s tries the first', async () => {
    const { a, b } = await open();
    assert.equal(a.ledger('submit_sm').length, 20);
    const id = await verify();
    await b.arrived('submit_sm', 21);
    await world.turnUntil('it is delivered', async () => (await codeStatus(id)) === 'delivered');
    a.follow(delivering);
    const before = a.ledger('submit_sm').length;
    await world.turnUntil('the first one is used again', async () => {
      await verify();
      return a.ledger('submit_sm').length >= before + 5;
    });
    assert.deepEqual(await openOf('first'), []);
  });

  test('other countries are not concerned', async () => {
    const { a, b } = await open();
    a.follow(delivering);
    const id = await verify('+33612345678');
    await world.turnUntil('it is delivered', async () => (await codeStatus(id)) === 'delivered');
    assert.deepEqual([a.ledger('submit_sm').length, b.ledger('submit_sm').length], [21, 20]);
  });

  test('plain texts wait while it is open', async () => {
    const { a, b } = await open();
    const before = a.ledger('submit_sm').length;
    await routes([{ ...firstThenSecond, failover: [] }]);
    const ids = await Promise.all(Array.from({ length: 5 }, () => world.send()));
    await eventually('they are held back', async () => {
      const { rows } = await app.db.database.query<{ held: number; untilMs: number }>(
        `select count(*)::integer as held, max(due_at) as "untilMs" from delivery_schedule where lane = 1 and attempt = 0`,
      );
      const [{ held, untilMs } = { held: 0, untilMs: 0 }] = rows;
      assert.ok(held === 0 || untilMs <= app.clock.nowMs() + 5000, 'it rests for 5 s');
      return held === 5;
    });
    assert.equal(a.ledger('submit_sm').length, before);
    a.follow(delivering);
    app.clock.advance(5000);
    for (const id of ids) await world.untilStatus(id, 'delivered');
    assert.equal(b.ledger('submit_sm').length, 20);
  });
});

describe('the story of a message', () => {
  test('shows each attempt: carrier, outcome, error, the route and the carrier\u2019s id', async () => {
    await connectTwo(answerWith(0x45), delivering);
    await routes([firstThenSecond]);
    const { developer, id: applicationId } = world.sender;
    // The node follows the routes a moment after the answer: texts before that name no route.
    const body = await eventually('a text goes on by the route', async () => {
      const id = await world.send();
      await world.untilStatus(id, 'delivered');
      const path = `/portal/v1/applications/${applicationId}/messages/${id}`;
      const { status, body } = await developer.send<Story>('GET', path);
      assert.equal(status, 200, JSON.stringify(body));
      return body.submits.every(({ route }) => route === 'all') && body;
    });
    const shown = body.submits.map(({ attempt, carrier, outcome, error, route, moved_to }) => {
      return [attempt, carrier, outcome, error, route, moved_to];
    });
    assert.deepEqual(shown, [
      [1, 'first', 'refused', 'blocked_by_carrier', 'all', 'second'],
      [2, 'second', 'accepted', null, 'all', null],
    ]);
    assert.match(body.submits[1]?.carrier_message_id ?? '', /^r\d/);
    const told = body.timeline.filter(({ event }) => event === 'attempt').map(({ detail }) => detail);
    assert.match(told[0] ?? '', /^Attempt 1, carrier first \(route all\): .* Moved to second\.$/);
    const story = await developer.send<Story>('GET', `/portal/v1/requests/${body.correlation_id}`);
    assert.deepEqual(
      story.body.timeline.filter(({ event }) => event === 'attempt').map(({ detail }) => detail),
      told,
    );
  });
});

interface Story {
  correlation_id: string;
  submits: Record<'carrier' | 'outcome' | 'error' | 'route' | 'moved_to' | 'carrier_message_id' | 'attempt', string>[];
  timeline: { event: string; detail: string }[];
}
