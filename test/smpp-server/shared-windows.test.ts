// Two nodes with one Redis: one limit for the submits and HTTP requests of both.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { endRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { staysAsLong } from './refusals.ts';
import { bound, createSmppCaller, createSmppWorld, type SmppWorld, submitMany } from './world.ts';

let redis: RedisServer;
let world: SmppWorld;
let other: TestApp;
before(async () => {
  redis = await startRedis();
  const env = { REDIS_URL: redis.url };
  world = await createSmppWorld({ delivery: 'held', env });
  const { db, clock } = world.app;
  other = await createTestApp({ delivery: 'held', env: { ...env, HELIOGRAPH_SMPP_PORT: '2775' }, db, clock });
});
after(async () => {
  await other?.close();
  await world?.close();
  await endRedis();
});

test('two nodes admit as many submits as the plan says, in any order; what was refused never extends the block', async () => {
  const caller = await createSmppCaller(world.app, 'free', { binds: 4 });
  const nodes = [world, { port: other.app.smpp.port ?? 0 }];
  const clients = await Promise.all([...nodes, ...nodes].map((node) => bound(node, caller)));
  const texts = Array.from({ length: 40 }, () => ({}));
  const answers = (await Promise.all(clients.map((client) => submitMany(client, texts)))).flat();
  assert.equal(answers.filter(({ status }) => status === 0).length, 60);
  assert.equal(answers.filter(({ status }) => status === 0x58).length, 100);
  assert.deepEqual(((await redis.ask('keys', 'hg:{*')) as string[]).length, 1, 'Redis has decided');
  await staysAsLong(world.app, caller, clients);
  for (const client of clients) client.close();
});
