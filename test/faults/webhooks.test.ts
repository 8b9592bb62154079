import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { createRunningClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';
import { compiledFile } from '../support/process.ts';
import { createWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { createWebhookWorld, type WebhookWorld } from '../support/webhook-world.ts';

const file = compiledFile('test/support/webhook-worker-process.ts');
const children = new Set<ChildProcess>();
let world: WebhookWorld;
let receiver: WebhookReceiver;
before(async () => {
  world = await createWebhookWorld(undefined, createRunningClock());
  receiver = await createWebhookReceiver((_, response) => void setTimeout(() => response.end(), 5));
});
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await world.close();
  await receiver.close();
});

async function startWorker(): Promise<ChildProcess> {
  const env = { ...process.env, WORKER_CONNECTION: JSON.stringify(world.db.connection) };
  const child = fork(file, { env, execArgv: [] });
  children.add(child);
  await once(child, 'message');
  return child;
}

async function kill(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  children.delete(child);
}

const told = () => new Set(receiver.calls.map(({ event }) => event.id)).size;

test('kill -9 of a worker in the middle: the other one delivers the rest, and a deletion still holds', async () => {
  const [first, second] = await Promise.all([startWorker(), startWorker()]);
  const { applicationId, id } = await world.create(receiver.url);
  await world.addEvents(applicationId, 1000);
  await eventually('calls go on', () => receiver.calls.length >= 100);
  await kill(first);
  const third = await startWorker();
  await kill(second);
  await eventually('all arrive', () => told() === 1000);
  await eventually('all are recorded', async () => {
    const states = await world.readDeliveries(id);
    return states.length === 1000 && states.every(({ status }) => status === 1);
  });
  // What was under way or not recorded when a worker died is delivered again.
  assert.ok(receiver.calls.length <= 1000 + 2 * 420, `${receiver.calls.length} calls`);

  await world.addEvents(applicationId, 5000);
  await eventually('calls go on', () => receiver.calls.length >= 1100 && told() < 6000);
  await world.service.remove(applicationId, id);
  // Bytes that had left before may still be on their way to the receiver.
  await new Promise((done) => setTimeout(done, 250));
  const count = receiver.calls.length;
  assert.ok(told() < 6000, 'it was deleted in the middle');
  await world.addEvents(applicationId, 100);
  await new Promise((done) => setTimeout(done, 500));
  assert.equal(receiver.calls.length, count);
  await kill(third);
});

test('a deletion while the worker that holds the webhook is dead is answered when its lease has ended', async () => {
  const worker = await startWorker();
  const { applicationId, id } = await world.create(receiver.url);
  receiver.calls.length = 0;
  await world.addEvents(applicationId, 3000);
  await eventually('calls go on', () => receiver.calls.length >= 50);
  await kill(worker);
  await world.service.remove(applicationId, id);
  await assert.rejects(world.service.read(applicationId, id), /Not found/);
});
