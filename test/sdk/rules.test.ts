// run: alone
// When the client waits, and when it sends again: without a service, in its own time.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { ConnectionError, HeliographError } from '../../sdk/src/errors.ts';
import { closedForMs, retryAfterMs } from '../../sdk/src/retry.ts';
import { Tokens } from '../../sdk/src/tokens.ts';
import { Turnstile } from '../../sdk/src/turnstile.ts';
import { readCases } from '../clients/table.ts';

interface Case {
  lost?: true;
  program?: true;
  status?: number;
  code?: string;
  retry_after_seconds?: number;
}

interface TurnstileStep {
  enter?: number;
  chances?: number;
  close?: number;
  leave?: number | null;
  times?: number;
  pass?: number;
  through?: number;
  refused?: number;
  closings?: number;
}

/** The cases that the clients of all languages share. */
const rules = readCases<{
  retry: { name: string; error: Case; repeatable: boolean; again: boolean }[];
  pauses: { error: Case; retries: number; random: number; seconds: number }[];
  turnstile: { name: string; steps: TurnstileStep[] }[];
  tokens: { expires_in: number; renewed_at: number }[];
}>('rules');

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

function errorFrom({ lost, program, status = 0, code, retry_after_seconds: seconds }: Case): unknown {
  if (lost) return new ConnectionError('lost');
  return program ? new TypeError('no') : refusal(status, { code: code ?? null, retryAfterSeconds: seconds ?? null });
}

describe('sending again', () => {
  for (const { name, error, repeatable, again } of rules.retry) {
    test(`${name}${repeatable ? '' : ', not repeatable'}: ${again ? 'yes, three times' : 'no'}`, () => {
      const failed = errorFrom(error);
      const waits = [0, 1, 2, 3, 4].map((retries) => retryAfterMs({ error: failed, retries, repeatable }, 0.5));
      assert.deepEqual(
        waits.map((wait) => wait !== undefined),
        [again, again, again, false, false],
      );
    });
  }

  test('later each time, with jitter, and never before the service said', () => {
    for (const { error, retries, random, seconds } of rules.pauses)
      assert.equal(retryAfterMs({ error: errorFrom(error), retries, repeatable: true }, random), seconds * 1000);
    assert.equal(closedForMs(refusal(429, { retryAfterSeconds: 900 }), 1), 60_000, 'at most 60 seconds');
  });
});

describe('the turnstile', () => {
  const limited = refusal(429);
  const enter = (turnstile: Turnstile, through: number[], name: number, chances = 3) =>
    turnstile.enter(chances, undefined).then(() => through.push(name));

  for (const { name, steps } of rules.turnstile) test(name, () => runSteps(steps));

  async function runSteps(steps: TurnstileStep[]): Promise<void> {
    const turnstile = new Turnstile();
    const through: { name: number; closings: number }[] = [];
    const refused: unknown[] = [];
    let entered = 0;
    for (const step of steps) {
      if (step.enter !== undefined)
        for (let count = 0; count < step.enter; count++) {
          const name = entered++;
          turnstile.enter(step.chances ?? 3, undefined).then(
            (closings) => through.push({ name, closings }),
            (error) => refused.push(error),
          );
        }
      if (step.close !== undefined) turnstile.close(step.close * 1000, limited);
      if (step.leave !== undefined)
        for (let count = 0; count < (step.times ?? 1); count++) turnstile.leave(step.leave ?? undefined);
      if (step.pass !== undefined) await pass(step.pass * 1000);
      await settle();
      if (step.closings !== undefined) assert.equal(through.at(-1)?.closings, step.closings);
      if (step.refused !== undefined) assert.deepEqual(refused, Array(step.refused).fill(limited), 'refused');
      if (step.through !== undefined) {
        const names = through.map((each) => each.name);
        assert.deepEqual(names, [...Array(step.through).keys()], JSON.stringify(step));
      }
    }
  }

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
});

describe('tokens', () => {
  let asked = 0;
  beforeEach(() => {
    asked = 0;
  });
  const create = (seconds: number) =>
    new Tokens(async () => ({ access_token: `token ${++asked}`, expires_in: seconds }));

  for (const { expires_in: seconds, renewed_at: renewedAt } of rules.tokens) {
    const renewedAtMs = renewedAt * 1000;
    test(`one of ${seconds} seconds is renewed ${seconds - renewedAt} seconds before it expires`, async () => {
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
