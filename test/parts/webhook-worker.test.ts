import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { dayMs } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { holdWebhooks, resumeWebhooks } from '../../src/webhooks/accounts.ts';
import { createDisableHopeless } from '../../src/webhooks/disable.ts';
import { recordProgress } from '../../src/webhooks/lease-store.ts';
import { attemptWaitsMs } from '../../src/webhooks/schedule.ts';
import { eventually } from '../support/eventually.ts';
import { createTestLog } from '../support/log.ts';
import { answer, createWebhookReceiver, ok, type Respond, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { createWebhookWorld, type WebhookWorld, type WorldWorker } from '../support/webhook-world.ts';

let world: WebhookWorld;
let worker: WorldWorker;
const receivers: WebhookReceiver[] = [];
before(async () => {
  world = await createWebhookWorld();
  worker = await world.startWorker();
});
after(async () => {
  await world.close();
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

/** An application with a webhook of its own, and the endpoint. */
async function arrange(respond: Respond = ok, account?: string) {
  const receiver = await createWebhookReceiver(respond);
  receivers.push(receiver);
  const made = await world.create(receiver.url, account);
  const { calls } = receiver;
  return {
    ...made,
    receiver,
    add: (count: number) => world.addEvents(made.applicationId, count),
    /** Waits for this many calls, and until they are recorded. */
    async settled(count: number): Promise<void> {
      await eventually(`${count} calls`, () => calls.length >= count);
      await eventually('they are recorded', async () => {
        const states = await world.readDeliveries(made.id);
        return states.reduce((sum, { attemptCount }) => sum + attemptCount, 0) >= count;
      });
    },
    read: () => world.readDeliveries(made.id),
    detail: () => world.service.read(made.applicationId, made.id),
  };
}

const distinct = ({ calls }: WebhookReceiver) => new Set(calls.map(({ event }) => event.id)).size;

test('ten attempts with the waits of the contract, then it has failed', async () => {
  const { receiver, add, settled, read } = await arrange(answer(500));
  await add(1);
  for (let attempts = 1; attempts <= 9; attempts++) {
    await settled(attempts);
    const [state] = await read();
    assert.equal(state?.status, 0);
    const waitMs = (state?.nextAttemptAtMs ?? 0) - world.clock.nowMs();
    const plain = attemptWaitsMs[attempts] ?? 0;
    assert.ok(waitMs >= plain * 0.9 && waitMs <= plain * 1.1, `${waitMs} ms after attempt ${attempts}`);
    world.clock.advance(waitMs);
    worker.wake();
  }
  await settled(10);
  const [state] = await read();
  assert.deepEqual([state?.status, state?.attemptCount, state?.nextAttemptAtMs], [2, 10, null]);
  assert.equal(receiver.calls.length, 10);
  assert.equal(distinct(receiver), 1);
});

test('Retry-After of a 429 or 503 is honoured, of others not', async () => {
  for (const [status, waitsMs] of [
    [429, 20_000],
    [503, 20_000],
    [500, undefined],
  ] as const) {
    const { add, settled, read } = await arrange(answer(status, { 'retry-after': '20' }));
    await add(1);
    await settled(1);
    const waitMs = ((await read())[0]?.nextAttemptAtMs ?? 0) - world.clock.nowMs();
    if (waitsMs === undefined) assert.ok(waitMs <= 5500, `${waitMs} ms after a ${status}`);
    else assert.equal(waitMs, waitsMs);
  }
});

const runChore = () =>
  createDisableHopeless({ database: world.db.database, clock: world.clock, log: createTestLog().log })();

test('five days without a success disable it, at an attempt or by the chore; a success in between saves it', async () => {
  const [tried, untried, saved] = [await arrange(answer(500)), await arrange(answer(500)), await arrange(answer(500))];
  for (const { add, settled } of [tried, untried, saved]) {
    await add(1);
    await settled(1);
  }
  saved.receiver.respond = ok;
  world.clock.advance(60_000);
  worker.wake();
  await saved.settled(2);
  // Its next attempt is further away than five days.
  await world.db.database.query(
    `update webhook_delivery set next_attempt_at = 'infinity' where webhook_id = '${uuidOf(untried.id)}'`,
  );
  world.clock.advance(5 * dayMs);
  await tried.add(1);
  await eventually('it is disabled', async () => (await tried.detail()).status === 'disabled');
  assert.equal((await tried.detail()).disabledReason, 'no_success');
  await runChore();
  assert.equal((await untried.detail()).status, 'disabled');
  assert.equal((await saved.detail()).status, 'active');
});

test('the time of a pause does not count: a webhook that failed before it is not disabled after it', async () => {
  const { applicationId, id, receiver, add, settled, detail, read } = await arrange(answer(500));
  await add(1);
  await settled(1);
  await world.service.change(applicationId, id, { status: 'paused' });
  await add(2);
  world.clock.advance(6 * dayMs);
  await runChore();
  assert.equal((await detail()).status, 'paused');
  await world.service.change(applicationId, id, { status: 'active' });
  await runChore();
  await settled(4);
  assert.equal((await detail()).status, 'active');
  assert.ok(((await detail()).failingSinceMs ?? 0) >= world.clock.nowMs() - 60_000, 'it fails since its resume');
  receiver.respond = ok;
  world.clock.advance(60_000);
  worker.wake();
  await eventually('all arrive', async () => (await read()).filter(({ status }) => status === 1).length === 3);
});

test('a new address begins without failures, also while a worker is calling the old one', async () => {
  const { applicationId, id, add, settled, detail, receiver } = await arrange(answer(500));
  const mended = await createWebhookReceiver();
  receivers.push(mended);
  await add(1);
  await settled(1);
  world.clock.advance(5 * dayMs - 1000);
  receiver.respond = () => {};
  worker.wake();
  await eventually('a call is open', () => receiver.open === 1);
  const changing = world.service.change(applicationId, id, { url: mended.url });
  await eventually('the change is saved', async () => (await detail()).url === mended.url);
  world.clock.advance(2000);
  receiver.breakOff();
  await changing;
  const { status, failingSinceMs } = await detail();
  assert.deepEqual([status, failingSinceMs], ['active', null]);
  world.clock.advance(60_000);
  worker.wake();
  await eventually('it arrives', () => mended.calls.length === 1);
});

test('a test that succeeds ends the time without success', async () => {
  const { applicationId, id, add, settled, detail, receiver } = await arrange(answer(500));
  await add(1);
  await settled(1);
  assert.ok((await detail()).failingSinceMs !== null);
  receiver.respond = ok;
  assert.equal((await world.service.test(applicationId, id)).outcome, 'delivered');
  assert.equal((await detail()).failingSinceMs, null);
});

test('time in which the account is disabled does not count', async () => {
  const { applicationId, id, receiver, add, settled, detail } = await arrange(answer(500), 'acc_held');
  const { database } = world.db;
  await add(1);
  await settled(1);
  await database.query(`update account set disabled_at = $1 where id = 'acc_held'`, [
    new Date(world.clock.nowMs()).toISOString(),
  ]);
  await database.transaction((tx) => holdWebhooks(tx, 'acc_held'));
  world.clock.advance(6 * dayMs);
  await runChore();
  assert.equal((await detail()).status, 'active');
  receiver.respond = () => {};
  await database.query(`update account set disabled_at = null where id = 'acc_held'`);
  await database.transaction((tx) => resumeWebhooks(tx, 'acc_held', world.clock.nowMs()));
  assert.equal((await detail()).failingSinceMs, null);
  await runChore();
  assert.equal((await detail()).status, 'active');
  await world.service.remove(applicationId, id);
});

test('at most 20 at once, in turn from slow beginnings, and every event once', async () => {
  const { receiver, add, settled } = await arrange((_, response) => void setTimeout(() => response.end(), 10));
  await add(300);
  await settled(300);
  assert.equal(receiver.calls.length, 300);
  assert.equal(distinct(receiver), 300);
  assert.ok(receiver.mostOpen <= 20, `${receiver.mostOpen} at once`);
  assert.ok(receiver.mostOpen > 10, `${receiver.mostOpen} at once`);
});

test('endpoints that do not answer hold up no other, and are then asked one by one', async () => {
  const dead = await Promise.all(Array.from({ length: 5 }, () => arrange(() => {})));
  const well = await arrange();
  for (const { add } of dead) await add(50);
  await eventually('they hang', () => dead.every(({ receiver }) => receiver.open === 1));
  await well.add(200);
  await well.settled(200);
  assert.equal(distinct(well.receiver), 200);
  for (const { receiver } of dead) {
    assert.equal(receiver.calls.length, 1, 'one call until it was measured');
    // The call breaks off; later ones are refused at once.
    receiver.respond = (_, response) => void response.destroy();
    receiver.breakOff();
  }
  for (const { receiver, settled } of dead) {
    await settled(10);
    assert.equal(receiver.mostOpen, 1);
  }
  for (const { applicationId, id } of dead) await world.service.remove(applicationId, id);
});

test('an endpoint that comes back receives everything', async () => {
  const { receiver, add, settled, read } = await arrange(answer(503));
  await add(40);
  await settled(10);
  receiver.respond = ok;
  await eventually('all is delivered', async () => {
    world.clock.advance(10_000);
    worker.wake();
    const states = await read();
    return states.length === 40 && states.every(({ status }) => status === 1);
  });
  assert.equal(distinct(receiver), 40);
});

test('a span of many pieces is delivered again', async () => {
  const { applicationId, id, receiver, add, settled } = await arrange();
  const sinceMs = world.clock.nowMs();
  await add(450);
  await settled(450);
  world.clock.advance(1000);
  await add(5);
  await settled(455);
  const span = { sinceMs, untilMs: sinceMs + 500, types: [] };
  await world.deliveries.replaySpan(applicationId, id, span);
  await eventually('all arrive again', () => receiver.calls.length >= 905);
  await eventually('the span is done', async () => {
    return (await world.db.database.query('select from webhook_replay')).count === 0;
  });
  assert.equal(receiver.calls.length, 905);
});

test('a retry of a type that a change has excluded is not sent, but a replay of it is', async () => {
  const { applicationId, id, receiver, add, settled, read } = await arrange(answer(500));
  const sinceMs = world.clock.nowMs();
  await add(1);
  await settled(1);
  receiver.respond = ok;
  await world.service.change(applicationId, id, { types: ['verification.approved'] });
  world.clock.advance(60_000);
  worker.wake();
  await eventually('it has failed', async () => (await read())[0]?.status === 2);
  assert.equal(receiver.calls.length, 1);
  const page = { after: undefined, limit: 10 };
  const { rows } = await world.deliveries.list(applicationId, id, 'failed', page);
  const last = rows[0]?.delivery.attempts.at(-1);
  assert.equal(last?.error, 'The type of the event is no longer among the types of the webhook.');
  receiver.respond = answer(500);
  await world.deliveries.replaySpan(applicationId, id, { sinceMs, untilMs: undefined, types: ['message.sent'] });
  await eventually('the replay sends it', () => receiver.calls.length === 2);
  receiver.respond = ok;
  await eventually('and tries it again', async () => {
    world.clock.advance(10_000);
    worker.wake();
    return (await read())[0]?.status === 1;
  });
});

test('a disabled webhook that becomes active sends nothing that waited, and begins with the next event', async () => {
  const { applicationId, id, receiver, add, settled, read, detail } = await arrange(answer(500));
  const { database } = world.db;
  await add(3);
  await settled(3);
  // More than one transaction ends.
  await database.query(
    `insert into webhook_delivery (webhook_id, position, status, attempt_count, next_attempt_at)
     select $1, -position, 0, 1, $2 from generate_series(1, 2500) position`,
    [uuidOf(id), new Date(world.clock.nowMs() + dayMs).toISOString()],
  );
  receiver.respond = answer(410);
  await add(1);
  await eventually('it is disabled', async () => (await detail()).status === 'disabled');
  receiver.respond = ok;
  const before = receiver.calls.length;
  // A worker that has overslept its lease tries to record what it had.
  const { rows } = await database.query<{ claim: number }>('select claim from webhook_course where webhook_id = $1', [
    uuidOf(id),
  ]);
  await world.service.change(applicationId, id, { status: 'active' });
  const late = await recordProgress(database, {
    ...{ webhookId: id, claim: Number(rows[0]?.claim), position: 0, calls: 0, giveBack: true },
    ...{ failures: 9, failingSinceMs: 1, lastSuccessAtMs: null, restsUntilMs: null, latencyMs: null },
    ...{ deliveries: [], nowMs: world.clock.nowMs() },
  });
  assert.equal(late, undefined, 'it is refused');
  assert.deepEqual([...new Set((await read()).map(({ status }) => status))], [2]);
  world.clock.advance(2 * dayMs);
  await add(1);
  await eventually('the next event arrives', () => receiver.calls.length > before);
  await eventually('it is recorded', async () => (await read()).filter(({ status }) => status === 1).length === 1);
  assert.equal(receiver.calls.length, before + 1);
});

describe('a lease reports its states', () => {
  /** An endpoint that leaves its first call open, and answers later ones. */
  async function arrangeOpenCall() {
    const arranged = await arrange(() => {});
    const { id, receiver, add } = arranged;
    await add(1);
    await eventually('a call is open', () => receiver.open === 1);
    receiver.respond = ok;
    const until = (...states: string[]) =>
      eventually(states.join(', '), () => worker.leases.get(id)?.join().startsWith(states.join()) === true);
    return { ...arranged, until, row: `webhook_id = '${uuidOf(id)}'` };
  }

  test('one that has called the endpoint', async () => {
    const { id, add, settled } = await arrange();
    await add(3);
    await settled(3);
    await eventually('it ends', () => worker.leases.get(id)?.join() === 'calling,ended');
  });

  test('one of an endpoint that answers 410', async () => {
    const { id, add, detail } = await arrange(answer(410));
    await add(1);
    await eventually('it ends', () => worker.leases.get(id)?.join() === 'calling,gone,ended');
    assert.equal((await detail()).disabledReason, 'gone');
  });

  test('one that is asked back because the webhook changes', async () => {
    const { applicationId, id, until } = await arrangeOpenCall();
    await world.service.change(applicationId, id, { status: 'paused' });
    await until('calling', 'returning', 'ended');
  });

  test('one that another worker has overtaken', async () => {
    const { receiver, row, until } = await arrangeOpenCall();
    await world.db.database.query(`update webhook_course set claim = claim + 1 where ${row}`);
    // Its next renewal is due.
    world.clock.advance(2000);
    await until('calling', 'lost', 'ended');
    assert.equal(receiver.open, 0, 'its open call is aborted');
  });

  test('one whose deliveries the database does not take for a while', async () => {
    const { receiver, row, until, settled } = await arrangeOpenCall();
    const { database } = world.db;
    await database.query(`alter table webhook_delivery add constraint no_delivery check (not ${row}) not valid`);
    receiver.breakOff();
    await until('calling', 'stalled');
    await database.query('alter table webhook_delivery drop constraint no_delivery');
    await until('calling', 'stalled', 'calling', 'ended');
    await settled(1);
  });
});
