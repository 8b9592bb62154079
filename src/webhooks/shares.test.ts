import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Lane } from './pace.ts';
import { createShares, type Holding, type Seeker, type Turn } from './shares.ts';

const lanes: Lane[] = ['new', 'quick', 'slow'];
const endpointCount = 12;

interface Endpoint extends Seeker {
  account: string;
  lane: Lane;
}

/** All state without sums: the model counts anew each time. */
interface World {
  most: number;
  holdings: Holding[];
  /** Accounts in the order of their turns, oldest first. */
  turns: string[];
}

/** The rules of decision 0017, one after the other. */
function modelNext({ most, holdings, turns }: World, waiting: Endpoint[]): Turn<Endpoint> | undefined {
  const part = (of: number) => Math.max(1, Math.floor(most / of));
  const count = (test: (holding: Holding) => boolean) => holdings.filter(test).length;
  const isSlow = ({ lane }: { lane: Lane }) => lane === 'slow';
  const slow = count(isSlow);
  const quick = holdings.length - slow;

  const lanesFor = ({ account, lane: own }: Endpoint): Lane[] =>
    (own === 'new' ? (['new', 'slow'] as const) : [own]).filter((lane) => {
      const ofIt = (test: (holding: Holding) => boolean) => count((each) => each.account === account && test(each));
      const others = waiting.some((each) => each.account !== account && isSlow(each) === isSlow({ lane }));
      if (holdings.length >= 3 * most || (others && ofIt(() => true) >= part(4))) return false;
      if (lane === 'slow') return slow < part(2) && holdings.length < most && (!others || ofIt(isSlow) < part(8));
      const overdrawn = ofIt(({ isOverdrawn }) => isOverdrawn);
      if (quick >= Math.max(part(2), most - slow) || overdrawn >= part(16)) return false;
      const isNew = (each: Holding) => each.lane === 'new';
      return (
        lane === 'quick' || (ofIt(isNew) + overdrawn < part(16) && (count(isNew) < part(4) || ofIt(() => true) === 0))
      );
    });
  const rank = ({ seeker, lane }: Turn<Endpoint>, index: number): number[] => [
    count((each) => each.account === seeker.account && isSlow(each) === isSlow({ lane })),
    turns.lastIndexOf(seeker.account),
    count(({ endpoint }) => endpoint === seeker.endpoint),
    index,
  ];
  const ranked = waiting.flatMap((seeker, index) =>
    lanesFor(seeker)
      .slice(0, 1)
      .map((lane) => ({ turn: { seeker, lane }, rank: rank({ seeker, lane }, index) })),
  );
  ranked.sort(
    (one, other) => one.rank.map((each, index) => each - (other.rank[index] ?? 0)).find((by) => by !== 0) ?? 0,
  );
  return ranked[0]?.turn;
}

type Act = { kind: 'serve' | 'free' | 'move' | 'relane'; which: number; lane: number; waiting: number };
const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom('serve', 'serve', 'serve', 'free', 'move', 'relane'),
  which: fc.nat(1000),
  lane: fc.nat(2),
  /** One bit for each waiting endpoint. */
  waiting: fc.nat(2 ** endpointCount - 1),
});
const laneAt = (index: number): Lane => lanes[index] ?? 'new';

describe('shares', () => {
  test('the order of turns equals that of a model that counts everything anew', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 6 }),
        fc.array(act, { maxLength: 120 }),
        (most, accounts, acts) => {
          const shares = createShares(most);
          const world: World = { most, holdings: [], turns: [] };
          const endpoints: Endpoint[] = Array.from({ length: endpointCount }, (_, index) => ({
            account: `account ${index % accounts}`,
            endpoint: `endpoint ${index}`,
            lane: laneAt(index % 3),
          }));
          for (const { kind, which, lane, waiting } of acts) {
            const holding = world.holdings[which % Math.max(1, world.holdings.length)];
            const inLine = endpoints.filter((_, index) => waiting & (1 << index));
            const next = shares.next(inLine);
            assert.deepEqual(next, modelNext(world, inLine));
            if (kind === 'serve' && next !== undefined) {
              world.holdings.push(shares.take(next));
              world.turns.push(next.seeker.account);
            } else if (kind === 'free' && holding !== undefined) {
              shares.free(holding);
              world.holdings = world.holdings.filter((each) => each !== holding);
            } else if (kind === 'move' && holding !== undefined) shares.move(holding, laneAt(lane));
            else if (kind === 'relane') for (const endpoint of inLine.slice(0, 2)) endpoint.lane = laneAt(lane);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  const seekers = (account: string, count: number, lane: Lane): Endpoint[] =>
    Array.from({ length: count }, (_, index) => ({ account, endpoint: `${account} ${index}`, lane }));

  /** Grants shares until no endpoint may have more. Returns the number of each. */
  function serveAll(shares: ReturnType<typeof createShares>, waiting: Endpoint[]): Holding[] {
    const taken: Holding[] = [];
    for (let next = shares.next(waiting); next !== undefined; next = shares.next(waiting))
      taken.push(shares.take(next));
    return taken;
  }

  test('31 accounts with slow endpoints never have more than half, and an account with a quick endpoint begins at once', () => {
    const shares = createShares(512);
    const slow = Array.from({ length: 31 }, (_, index) => seekers(`slow ${index}`, 10, 'slow')).flat();
    assert.equal(serveAll(shares, slow).length, 256);
    const [quick] = seekers('another', 1, 'quick');
    assert.ok(quick !== undefined);
    assert.equal(shares.next([...slow, quick])?.seeker, quick);
  });

  test('one account has all of a half while it is alone, and a quarter at most while others wait', () => {
    const shares = createShares(512);
    const [many, few] = [seekers('many', 40, 'quick'), seekers('few', 1, 'quick')];
    const taken = serveAll(shares, [...many, ...few]);
    assert.equal(taken.filter(({ account }) => account === 'many').length, 128);
    assert.equal(serveAll(shares, many).length, 512 - 256, 'alone it has the rest');
  });

  test('endpoints that turn slow together leave the half of the quick ones, and an account can do so with few', () => {
    const shares = createShares(512);
    const strange = Array.from({ length: 31 }, (_, index) => seekers(`strange ${index}`, 40, 'new')).flat();
    const first = serveAll(shares, strange);
    const tried = first.filter(({ lane }) => lane === 'new').length;
    assert.equal(tried, 128, 'new endpoints have a quarter');
    assert.equal(first.length - tried, 256, 'and what slow ones leave');
    const [another] = seekers('a new one', 1, 'new');
    assert.ok(another !== undefined);
    assert.deepEqual(shares.next([...strange, another]), { seeker: another, lane: 'new' }, 'it does not wait for them');
    let under = 0;
    for (let round = 0; round < 50; round++) {
      for (const holding of round === 0 ? first : serveAll(shares, strange)) {
        shares.move(holding, 'slow');
        under++;
      }
    }
    assert.equal(under, 256 + 31 * 32);
    const [quick] = seekers('another', 1, 'quick');
    assert.ok(quick !== undefined);
    assert.equal(shares.next([...strange, quick])?.seeker, quick);
  });

  test('accounts take turns, however many endpoints each has, and so do the endpoints of each', () => {
    const shares = createShares(1);
    const waiting = [...seekers('a', 3, 'quick'), ...seekers('b', 1, 'quick'), ...seekers('c', 2, 'quick')];
    const order: string[] = [];
    for (let turn = 0; turn < 9; turn++) {
      const next = shares.next(waiting);
      assert.ok(next !== undefined);
      shares.free(shares.take(next));
      // As in a queue: a served one moves to the end.
      waiting.splice(waiting.indexOf(next.seeker), 1);
      waiting.push(next.seeker);
      order.push(next.seeker.endpoint);
    }
    assert.deepEqual(order, ['a 0', 'b 0', 'c 0', 'a 1', 'b 0', 'c 1', 'a 2', 'b 0', 'c 0']);
  });
});
