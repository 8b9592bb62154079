// run: alone
// When the client waits, and when it sends again: without a service, in its own time.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { ConnectionError, HeliographError } from '../../sdk/src/errors.ts';
import { closedForMs, retryAfterMs } from '../../sdk/src/retry.ts';
import { Tokens } from '../../sdk/src/tokens.ts';
import { Turnstile } from '../../sdk/src/turnstile.ts';

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(performance, 'now', () => nowMs);
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

/** Lets time pass, and what waits for it go on. */
async function pass(ms: number): Promise<void> {
  nowMs += ms;
  mock.timers.tick(ms);
  await settle();
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

function refusal(status: number, more: Partial<HeliographError> = {}): HeliographError {
  const facts = {
    message: `a ${status}`,
    status,
    code: null,
    details: [],
    correlationId: null,
    retryAfterSeconds: null,
  };
  return new HeliographError({ ...facts, ...more });
}

describe('sending again', () => {
  const lost = new ConnectionError('lost');
  const inProgress = refusal(409, { code: 'IDEMPOTENCY_IN_PROGRESS' });
  const cases: [string, unknown, boolean, boolean][] = [
    ['a lost connection of a read', lost, true, true],
    ['a lost connection of a call without a key', lost, false, false],
    ['429, whatever the call', refusal(429, { retryAfterSeconds: 60 }), false, true],
    ['429 with a longer wait', refusal(429, { retryAfterSeconds: 61 }), true, false],
    ['409 in progress', inProgress, true, true],
    ['another 409', refusal(409, { code: 'INCOMPATIBLE_STATE' }), true, false],
    ...[502, 503, 504].map((status): [string, unknown, boolean, boolean] => [`${status}`, refusal(status), true, true]),
    ...[502, 503, 504].map((status): [string, unknown, boolean, boolean] => [
      `${status}`,
      refusal(status),
      false,
      false,
    ]),
    ['503 with a longer wait', refusal(503, { retryAfterSeconds: 61 }), true, false],
    ...[400, 401, 402, 403, 404, 408, 410, 413, 422, 500, 501].map((status): [string, unknown, boolean, boolean] => [
      `${status}`,
      refusal(status),
      true,
      false,
    ]),
    ['an error of the program', new TypeError('no'), true, false],
  ];
  for (const [name, error, repeatable, again] of cases) {
    test(`${name}${repeatable ? '' : ', not repeatable'}: ${again ? 'yes, three times' : 'no'}`, () => {
      const waits = [0, 1, 2, 3, 4].map((retries) => retryAfterMs({ error, retries, repeatable }, 0.5) !== undefined);
      assert.deepEqual(waits, [again, again, again, false, false]);
    });
  }

  test('later each time, with jitter, and never before the service said', () => {
    const pauses = [0, 1, 2].map((retries) =>
      [0, 1].map((random) => retryAfterMs({ error: lost, retries, repeatable: true }, random)),
    );
    assert.deepEqual(pauses, [
      [150, 300],
      [600, 1200],
      [2400, 4800],
    ]);
    const busy = refusal(503, { retryAfterSeconds: 7 });
    assert.equal(retryAfterMs({ error: busy, retries: 0, repeatable: true }, 0), 7000);
    const limited = refusal(429, { retryAfterSeconds: 7 });
    assert.deepEqual([closedForMs(limited, 0), closedForMs(limited, 1)], [7000, 7250]);
    assert.equal(closedForMs(refusal(429, { retryAfterSeconds: 900 }), 1), 60_000, 'at most 60 seconds');
  });
});

describe('the turnstile', () => {
  const limited = refusal(429);
  const enter = (turnstile: Turnstile, through: number[], name: number, chances = 3) =>
    turnstile.enter(chances, undefined).then(() => through.push(name));

  test('without a 429 it lets a hundred be under way at once, in order', async () => {
    const turnstile = new Turnstile();
    const through: number[] = [];
    for (let name = 0; name < 1000; name++) void enter(turnstile, through, name);
    await settle();
    assert.equal(through.length, 100);
    for (let leaving = 0; leaving < 900; leaving++) turnstile.leave(0);
    await settle();
    assert.equal(through.at(-1), 999, 'what is left of the limit does not matter before it refuses');
  });

  test('after a 429 all wait; then one goes, two, four, in order, and never more than is left', async () => {
    const turnstile = new Turnstile();
    await turnstile.enter(3, undefined);
    turnstile.close(5000, limited);
    turnstile.leave(0);
    const through: number[] = [];
    for (let name = 0; name < 100; name++) void enter(turnstile, through, name);
    await pass(4999);
    assert.deepEqual(through, []);
    await pass(1);
    assert.deepEqual(through, [0]);
    turnstile.leave(50);
    await settle();
    assert.deepEqual(through, [0, 1, 2]);
    turnstile.leave(49);
    turnstile.leave(48);
    await settle();
    assert.equal(through.length, 11, 'eight under way');
    for (let leaving = 0; leaving < 8; leaving++) turnstile.leave(3);
    await settle();
    assert.equal(through.length, 14, 'three are left');
    for (let leaving = 0; leaving < 3; leaving++) turnstile.leave(undefined);
    await settle();
    assert.equal(through.length, 17, 'a lost answer says nothing of what is left');
    assert.deepEqual(
      through,
      through.map((_, index) => index),
    );
  });

  test('many 429s of calls that were under way together are one closing', async () => {
    const turnstile = new Turnstile();
    await Promise.all(Array.from({ length: 100 }, () => turnstile.enter(3, undefined)));
    const seen: number[] = [];
    for (let call = 0; call < 100; call++) {
      turnstile.close(1000 + call, limited);
      turnstile.leave(0);
      void turnstile.enter(2, undefined).then((closings) => seen.push(closings));
    }
    await pass(1098);
    assert.deepEqual(seen, [], 'the longest counts');
    await pass(1);
    assert.deepEqual(seen, [0]);
  });

  test('a call sits through as many closings as it has retries, then gets the error of the last', async () => {
    const turnstile = new Turnstile();
    turnstile.close(1000, limited);
    const probes: number[] = [];
    // One that is refused again and again keeps the others waiting.
    for (let probe = 0; probe < 5; probe++) void enter(turnstile, probes, probe, 9);
    const outcome: unknown[] = [];
    turnstile.enter(3, undefined).then(
      () => outcome.push('through'),
      (error) => outcome.push(error),
    );
    for (let closing = 1; closing <= 4; closing++) {
      await pass(1000);
      assert.equal(probes.length, closing);
      turnstile.close(1000, limited);
      turnstile.leave(0);
      await settle();
      assert.equal(outcome.length, closing === 4 ? 1 : 0, `closing ${closing}`);
    }
    assert.equal(outcome[0], limited);
  });

  test('an abort gives the place free, and leaves no timer', async () => {
    const turnstile = new Turnstile();
    turnstile.close(60_000, limited);
    const leaving = new AbortController();
    const left = turnstile.enter(3, leaving.signal).catch((error: unknown) => error);
    const timers = mock.method(globalThis, 'setTimeout');
    leaving.abort('gone');
    assert.equal(await left, 'gone');
    assert.equal(timers.mock.callCount(), 0, 'none waits, so no timer is needed');
    await assert.rejects(async () => turnstile.enter(3, AbortSignal.abort(new Error('before'))), /before/);
    const through: number[] = [];
    void enter(turnstile, through, 1);
    await pass(60_000);
    assert.deepEqual(through, [1]);
  });

  test('ten thousand that wait cost no more than one pass', async () => {
    const turnstile = new Turnstile();
    turnstile.close(1000, limited);
    const through: number[] = [];
    for (let name = 0; name < 10_000; name++) void enter(turnstile, through, name);
    await pass(1000);
    for (let left = 1_000_000; through.length < 10_000; left--) {
      turnstile.leave(left);
      if (left % 512 === 0) await settle();
    }
    assert.equal(through.at(-1), 9999);
  });
});

describe('tokens', () => {
  let asked = 0;
  beforeEach(() => {
    asked = 0;
  });
  const create = (seconds: number) =>
    new Tokens(async () => ({ access_token: `token ${++asked}`, expires_in: seconds }));

  for (const [seconds, renewedAtMs] of [
    [3600, 3_570_000],
    [100, 90_000],
    [1, 900],
  ] as const) {
    test(`one of ${seconds} seconds is renewed ${seconds - renewedAtMs / 1000} seconds before it expires`, async () => {
      const tokens = create(seconds);
      assert.equal((await tokens.get(undefined)).value, 'token 1');
      nowMs = renewedAtMs - 1;
      assert.equal((await tokens.get(undefined)).value, 'token 1');
      nowMs = renewedAtMs;
      const many = await Promise.all([1, 2, 3].map(() => tokens.get(undefined)));
      assert.deepEqual(new Set(many.map(({ value }) => value)), new Set(['token 2']));
    });
  }

  test('a failure is not kept, also if it comes at once', async () => {
    let fails = true;
    const tokens = new Tokens(() => {
      if (fails) throw new Error('no credentials');
      return Promise.resolve({ access_token: 'token', expires_in: 60 });
    });
    await assert.rejects(async () => tokens.get(undefined), /no credentials/);
    fails = false;
    assert.equal((await tokens.get(undefined)).value, 'token');
  });

  test('forgetting an old one leaves the new one', async () => {
    const tokens = create(3600);
    const old = await tokens.get(undefined);
    tokens.forget(old);
    const fresh = await tokens.get(undefined);
    tokens.forget(old);
    assert.equal(await tokens.get(undefined), fresh);
  });
});
