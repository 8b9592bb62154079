// run: with hostile callers
// Endpoints that answer 200 as late as they may delay no other account's webhook: claims and calls are shared in turns.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { createWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { createWebhookWorld, type WebhookWorld, type WorldWorker } from '../support/webhook-world.ts';
import { createSlowEndpoints, type SlowEndpoints } from './slow-endpoints.ts';

/** Late enough to be slow, and soon enough for the lease of a worker. */
const lateMs = 1100;
/** `npm test` attacks a worker of a tenth of the size with a tenth of the accounts. */
const size = inShort(
  // Three accounts have an eighth each, which is less than the half.
  { accounts: 3, room: { claims: 30, calls: 51 }, tried: 18, shared: 18, half: 25 },
  { accounts: 31, room: { claims: 300, calls: 512 }, tried: 225, shared: 256, half: 256 },
);
const accounts = Array.from({ length: size.accounts }, (_, index) => `acc_attacker_${index}`);
const endpoints = 10 * accounts.length;
const receivers: WebhookReceiver[] = [];
const worlds: WebhookWorld[] = [];
const attacks: SlowEndpoints[] = [];
after(async () => {
  for (const { receiver } of attacks) receiver.respond = (_, response) => void response.end('{}');
  for (const attack of attacks) attack.answer();
  for (const world of worlds) await world.close();
  for (const { close } of [...attacks, ...receivers]) await close();
});

async function makeWorld(): Promise<WebhookWorld> {
  const world = await createWebhookWorld();
  worlds.push(world);
  return world;
}

async function makeSlow(world: WebhookWorld, accounts: string[], each?: number): Promise<SlowEndpoints> {
  const attack = await createSlowEndpoints(world, accounts, each);
  attacks.push(attack);
  return attack;
}

/** An endpoint of an account of its own, which answers at once. */
async function makeQuick(world: WebhookWorld, account: string) {
  const receiver = await createWebhookReceiver();
  receivers.push(receiver);
  const { applicationId, id } = await world.create(receiver.url, account);
  let told = 0;
  return {
    async tell(count: number): Promise<void> {
      await world.addEvents(applicationId, count);
      told += count;
      // Recorded, so that no call is under way when the clock is turned.
      await eventually(`${count} events arrive at ${account}`, async () => {
        return receiver.calls.length >= told && (await world.readDeliveries(id)).length === told;
      });
    },
  };
}

const countSlow = async ({ db }: WebhookWorld): Promise<number> =>
  (await db.database.query('select from webhook_course where latency_ms > 1000')).count;

/** Answers late, until all events are delivered. */
async function finishLate({ clock }: WebhookWorld, attack: SlowEndpoints, calls: number): Promise<void> {
  await eventually('all events are delivered', () => {
    if (attack.held.length > 0) {
      clock.advance(lateMs);
      attack.answer();
    }
    return attack.receiver.calls.length >= calls && attack.receiver.open === 0;
  });
}

describe(`${accounts.length} applications with ten endpoints each that answer late`, () => {
  let world: WebhookWorld;
  let attack: SlowEndpoints;
  let known: Awaited<ReturnType<typeof makeQuick>>;
  before(async () => {
    world = await makeWorld();
    attack = await makeSlow(world, accounts);
    await world.startWorker({ room: size.room });
    known = await makeQuick(world, 'acc_known');
    await known.tell(1);
  });

  test('while they are tried out, another account’s webhook is called, and a new one too', async () => {
    await attack.addEvents(1);
    await eventually('they hang', () => attack.held.length === size.tried);
    const stranger = await makeQuick(world, 'acc_stranger');
    await known.tell(20);
    await stranger.tell(20);
    assert.equal(attack.held.length, size.tried, 'none of their calls had to end for it');
    await finishLate(world, attack, endpoints);
    await eventually('they are known as slow', async () => (await countSlow(world)) === endpoints);
  });

  for (const form of ['accounts', 'one account'] as const)
    test(`known as slow, as ${form}, they have half of the calls and never the other half`, async () => {
      if (form === 'one account')
        await world.db.database.query('update application set account_id = $1 where account_id = any($2)', [
          accounts[0],
          accounts,
        ]);
      const before = attack.receiver.calls.length;
      const most = form === 'one account' ? size.half : size.shared;
      await attack.addEvents(2);
      await eventually('they have their half', () => attack.held.length === most);
      const stranger = await makeQuick(world, `acc_beside_${form}`);
      await known.tell(50);
      await stranger.tell(20);
      assert.equal(attack.held.length, most, 'none of their calls had to end for it');
      await finishLate(world, attack, before + 2 * endpoints);
    });

  test('other accounts’ webhooks are called in time on every node', async () => {
    await world.startWorker({ room: size.room });
    await attack.addEvents(3);
    await eventually('they have two halves', () => attack.held.length === 2 * size.half);
    await known.tell(50);
    assert.equal(attack.held.length, 2 * size.half);
  });
});

describe('turns', () => {
  let world: WebhookWorld;
  before(async () => {
    world = await makeWorld();
  });

  /** What is left of a test is for no worker of the next one. */
  async function end(worker: WorldWorker): Promise<void> {
    await worker.stop();
    await world.db.database.query(
      'update webhook_course set due_at = null, position = (select max(position) from event)',
    );
  }

  /** An application with this many endpoints that are known as slow. */
  async function makeKnown(account: string, each = 1): Promise<SlowEndpoints> {
    const slow = await makeSlow(world, [account], each);
    await world.db.database.query('update webhook_course set latency_ms = 14500');
    return slow;
  }

  test('when calls end, others begin theirs, and no account has more than its share while others wait', async () => {
    const [many, one, other] = [await makeKnown('acc_a', 4), await makeKnown('acc_b'), await makeKnown('acc_c')];
    const worker = await world.startWorker({ room: { claims: 64, calls: 16 } });
    await many.addEvents(50);
    await eventually('alone it has the half of the slow ones', () => many.held.length === 8);
    await one.addEvents(10);
    await other.addEvents(10);
    const shares = () => [many.held.length, one.held.length, other.held.length].join(' ');
    await eventually('each has the share of one account', () => {
      if (many.held.length > 2) many.answer(many.held.slice(0, 1));
      return shares() === '2 2 2';
    });
    await end(worker);
  });

  test('the next claim goes to the account that waits, not to the next endpoint of the one that has most', async () => {
    const [many, one] = [await makeKnown('acc_d', 10), await makeKnown('acc_e')];
    const worker = await world.startWorker({ room: { claims: 8, calls: 64 } });
    await many.addEvents(1);
    await eventually('alone it has half of the claims', () => many.held.length === 4);
    await one.addEvents(1);
    // A claim that becomes free before the worker has read the new event goes to the other account still.
    await eventually('it is its turn', () => {
      if (one.held.length === 0 && many.held.length === 4) many.answer(many.held.slice(0, 1));
      return one.held.length === 1;
    });
    assert.ok(many.receiver.calls.length < 10, 'the other account has begun all of its calls before');
    await end(worker);
  });

  test('a claim is given back after a second, although events are left, when another account waits for one', async () => {
    const [many, one] = [await makeKnown('acc_f', 4), await makeKnown('acc_g')];
    const worker = await world.startWorker({ room: { claims: 8, calls: 64 } });
    await many.addEvents(500);
    await eventually('it has all claims of slow ones', () => many.held.length === 16);
    world.clock.advance(lateMs);
    await one.addEvents(1);
    await eventually('it is its turn', () => {
      many.answer(many.held.slice(0, 4));
      return one.held.length === 1;
    });
    assert.ok(many.receiver.calls.length < 4 * 500, 'the events of the other account are delivered');
    await end(worker);
  });
});
