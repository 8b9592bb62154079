// Five minutes of endpoints that answer 200 after 14.5 s: another account's webhook is called as if they were not there.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createRunningClock } from '../support/clock.ts';
import { alsoInLong } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { tellFigure } from '../support/figures.ts';
import { createWebhookReceiver } from '../support/webhook-receiver.ts';
import { createWebhookWorld, type WebhookWorld } from '../support/webhook-world.ts';
import { createSlowEndpoints } from './slow-endpoints.ts';

const lastingMs = 300_000;
const answeredAfterMs = 14_500;
const mostMs = 2000;

/** Adds an event every 200 ms. Resolves with how long each was on its way. */
async function timeCalls(world: WebhookWorld, account: string, forMs: number): Promise<number[]> {
  const receiver = await createWebhookReceiver();
  const { applicationId } = await world.create(receiver.url, account);
  const addedAtMs: number[] = [];
  for (const untilMs = performance.now() + forMs; performance.now() < untilMs; ) {
    addedAtMs.push(performance.now());
    await world.addEvents(applicationId, 1);
    await new Promise((done) => setTimeout(done, 200));
  }
  await eventually('the last one has arrived', () => receiver.calls.length >= addedAtMs.length);
  await receiver.close();
  // One at a time, they arrive in the order in which they were added.
  const arrivals = receiver.calls.map(({ atMs }) => atMs).sort((one, other) => one - other);
  return arrivals.map((atMs, index) => atMs - (addedAtMs[index] ?? 0)).sort((one, other) => one - other);
}

async function attack(accounts: string[], form: string): Promise<void> {
  const world = await createWebhookWorld(undefined, createRunningClock());
  await world.startWorker();
  const slow = await createSlowEndpoints(world, accounts);
  slow.receiver.respond = (_, response) => void setTimeout(() => response.end('{}'), answeredAfterMs);
  const idle = await timeCalls(world, 'acc_known', 2000);
  await slow.addEvents(20);
  const adding = setInterval(() => void slow.addEvents(2).catch(() => {}), 10_000);
  const times = await timeCalls(world, 'acc_another', lastingMs);
  clearInterval(adding);
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0;
  const whole = (ms: number | undefined) => Math.round(ms ?? 0);
  tellFigure(
    `${form}: ${slow.receiver.calls.length} slow calls, ${slow.receiver.mostOpen} at once; ${times.length} calls of another ` +
      `account, median ${whole(times[Math.floor(times.length / 2)])} ms, p99 ${whole(p99)} ms, worst ${whole(times.at(-1))} ms ` +
      `(idle p50 ${whole(idle[Math.floor(idle.length / 2)])} ms)`,
  );
  slow.receiver.respond = (_, response) => void response.end('{}');
  slow.receiver.breakOff();
  await world.close();
  await slow.close();
  assert.ok(p99 < mostMs, `p99 of another account is ${whole(p99)} ms`);
}

describe('another account’s webhook within 2 s, while 310 endpoints answer after 14.5 s', () => {
  test('of 31 applications of one account', () =>
    alsoInLong(() =>
      attack(
        Array.from({ length: 31 }, () => 'acc_attacker'),
        'one account',
      ),
    ));

  test('of 31 accounts', () =>
    alsoInLong(() =>
      attack(
        Array.from({ length: 31 }, (_, index) => `acc_attacker_${index}`),
        '31 accounts',
      ),
    ));
});
