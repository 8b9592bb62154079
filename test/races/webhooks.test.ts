import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { createWebhookWorld, type WebhookWorld, type WorldWorker } from '../support/webhook-world.ts';

let world: WebhookWorld;
let workers: WorldWorker[];
let receiver: WebhookReceiver;
before(async () => {
  world = await createWebhookWorld();
  workers = [await world.startWorker(), await world.startWorker(), await world.startWorker()];
  receiver = await createWebhookReceiver((_, response) => void setTimeout(() => response.end(), 5));
});
after(async () => {
  await world.close();
  await receiver.close();
});

const timesOf = (subjects: string[]) => {
  const times = new Map<string, number>();
  for (const subject of subjects) times.set(subject, (times.get(subject) ?? 0) + 1);
  return times;
};

test('three workers and one endpoint: every event once, and never more than 20 at once', async () => {
  const { applicationId, id } = await world.create(receiver.url);
  receiver.calls.length = 0;
  const batches = inShort(10, 20);
  for (let batch = 0; batch < batches; batch++) await world.addEvents(applicationId, 25);
  await eventually('all are recorded', async () => {
    const states = await world.readDeliveries(id);
    return states.length === batches * 25 && states.every(({ status }) => status === 1);
  });
  assert.equal(receiver.calls.length, batches * 25);
  assert.equal(timesOf(receiver.calls.map(({ event }) => event.id)).size, batches * 25);
  assert.ok(receiver.mostOpen <= 20, `${receiver.mostOpen} at once`);
  await world.service.remove(applicationId, id);
});

test('a worker whose lease was taken away records nothing, and the next one delivers the rest', async () => {
  const { applicationId, id } = await world.create(receiver.url);
  receiver.calls.length = 0;
  await world.addEvents(applicationId, 400);
  for (let steal = 1; steal <= 5; steal++) {
    await eventually('calls go on', () => receiver.calls.length >= steal * 20);
    await world.db.database.query(`update webhook_course set leased_until = 'epoch' where webhook_id = $1`, [
      uuidOf(id),
    ]);
    for (const worker of workers) worker.wake();
  }
  await eventually('all are recorded', async () => {
    const states = await world.readDeliveries(id);
    return states.length === 400 && states.every(({ status }) => status === 1);
  });
  const times = timesOf(receiver.calls.map(({ event }) => event.id));
  assert.equal(times.size, 400);
  // Each lost lease costs at most what was under way or not recorded yet.
  assert.ok(receiver.calls.length <= 400 + 5 * 220, `${receiver.calls.length} calls`);
  const attempts = (await world.readDeliveries(id)).map(({ attemptCount }) => attemptCount);
  assert.ok(
    attempts.every((count) => count === 1),
    'a worker that lost its lease recorded something',
  );
  await world.service.remove(applicationId, id);
});

test('no attempt begins after a deletion or a pause was answered, whichever worker was at it', async () => {
  const acts: ('remove' | 'pause')[] = ['remove', 'pause'];
  for (const act of inShort(acts, [...acts, ...acts])) {
    const { applicationId, id } = await world.create(receiver.url);
    receiver.calls.length = 0;
    await world.addEvents(applicationId, 300);
    await eventually('calls go on', () => receiver.calls.length >= 30);
    const adding = world.addEvents(applicationId, 300);
    if (act === 'remove') await world.service.remove(applicationId, id);
    else await world.service.change(applicationId, id, { status: 'paused' });
    const answeredMs = performance.now();
    await adding;
    await world.addEvents(applicationId, 50);
    // Each worker has polled more than once.
    await new Promise((done) => setTimeout(done, 300));
    const late = workers.flatMap(({ begun }) => begun).filter((atMs) => atMs > answeredMs);
    assert.equal(late.length, 0, `${late.length} calls began after the answer to ${act}`);
    assert.ok(receiver.calls.length < 650, 'it was stopped before its end');
    if (act === 'remove') {
      await assert.rejects(world.service.read(applicationId, id), /Not found/);
      continue;
    }
    await world.service.change(applicationId, id, { status: 'active' });
    await eventually('all arrive in the end', async () => {
      const states = await world.readDeliveries(id);
      return states.length === 650 && states.every(({ status }) => status === 1);
    });
    assert.equal(timesOf(receiver.calls.map(({ event }) => event.id)).size, 650);
    await world.service.remove(applicationId, id);
  }
});

test('a deletion waits for a test that is under way to begin, and none begins after it', async () => {
  for (let round = 0; round < 5; round++) {
    const { applicationId, id } = await world.create(receiver.url);
    receiver.calls.length = 0;
    const tests = Array.from({ length: 10 }, () => world.service.test(applicationId, id).catch(() => 'not found'));
    await world.service.remove(applicationId, id);
    const outcomes = await Promise.all(tests);
    const sent = outcomes.filter((outcome) => typeof outcome === 'object').length;
    assert.equal(receiver.calls.length, sent);
    assert.equal(await world.service.test(applicationId, id).catch((error: Error) => error.message), notFound);
  }
});

const notFound = 'Not found. Check the path and the id.';

test('changes, deletions and workers do not block each other', async () => {
  const { applicationId, id } = await world.create(receiver.url);
  await world.addEvents(applicationId, 100);
  const act = (turn: number) => {
    if (turn % 3 === 0) return world.service.change(applicationId, id, { description: `turn ${turn}` });
    if (turn % 3 === 1) return world.service.rotateSecret(applicationId, id, 0);
    return world.service.change(applicationId, id, { status: 'active' });
  };
  await Promise.all(Array.from({ length: 12 }, (_, turn) => act(turn)));
  await eventually('all are recorded', async () => {
    const states = await world.readDeliveries(id);
    return states.length === 100 && states.every(({ status }) => status === 1);
  });
  await Promise.allSettled([
    world.service.remove(applicationId, id),
    world.service.remove(applicationId, id),
    world.service.change(applicationId, id, { status: 'paused' }),
  ]);
  await assert.rejects(world.service.read(applicationId, id), /Not found/);
  assert.equal((await world.db.database.query('select from webhook where id = $1', [uuidOf(id)])).count, 0);
});
