import assert from 'node:assert/strict';
import type { LimitDecision, Limits } from '../../src/http/admission.ts';

/** The windows of one caller, whatever keeps them, at a time that the test sets. */
export interface Limiter {
  /** `quietMs` ago the request's connection was opened or finished an answer. */
  decide(limits: Limits, nowMs: number, quietMs: number): LimitDecision | Promise<LimitDecision>;
  peek(limits: Limits, nowMs: number): LimitDecision | Promise<LimitDecision>;
  /** Takes back what a decision charged, and says how the caller stands. */
  giveBack(decision: LimitDecision, nowMs: number): LimitDecision | Promise<LimitDecision>;
  /** Another with the same history, to try something out on. */
  copy(): Limiter | Promise<Limiter>;
}

/** A request without an answer for this long cannot know of a lockout: in milliseconds, and as a time. */
export const onItsWay = Number.POSITIVE_INFINITY;
export const longAgo = Number.NEGATIVE_INFINITY;
/** Of a caller that sees no `Retry-After`. */
export const neverInformed = Number.NaN;

/** With a burst below its minute, so that either control refuses. */
export const sixty: Limits = { perMinute: 60, burst: 20 };
export const pro: Limits = { perMinute: 600, burst: 200 };

/** Section 4 of the contract again, in the plainest way there is: it keeps all admitted times and counts them. */
export class Model {
  readonly admitted: number[] = [];
  limits: Limits | undefined;
  lockout: { openedMs: number; naturalMs: number; lengthMs: number; endMs: number; moves: number[] } | undefined;
  moves = 0;
  /** Moves within 250 ms of the opening, by those that were informed. */
  early = 0;
  /** Requests that were spared, because they were on their way. */
  spared = 0;
  caps = 0;

  within(windowMs: number, atMs: number): number {
    let count = 0;
    for (let i = this.admitted.length - 1; i >= 0; i--) {
      const time = this.admitted[i] ?? 0;
      if (atMs >= time + windowMs) break;
      count++;
    }
    return count;
  }

  /** The first moment from now on at which fewer than the limit count. */
  nextFree(limit: number, windowMs: number, nowMs: number): number {
    const surplus = this.within(windowMs, nowMs) - limit;
    if (surplus < 0) return nowMs;
    const counted = this.admitted.slice(-surplus - limit);
    return (counted[surplus] ?? 0) + windowMs;
  }

  decide(limits: Limits, nowMs: number, quietMs: number): LimitDecision {
    if (this.limits?.perMinute !== limits.perMinute || this.limits.burst !== limits.burst) this.lockout = undefined;
    this.limits = limits;
    if (this.lockout !== undefined && nowMs < this.lockout.endMs) {
      const { lockout } = this;
      const informedAtMs = nowMs - quietMs;
      const isOld = nowMs - lockout.openedMs >= 250;
      const movedJustNow = lockout.moves.some((moveMs) => nowMs - moveMs < 250);
      if (Number.isNaN(quietMs)) this.spared++;
      else if ((informedAtMs > lockout.openedMs || isOld) && !movedJustNow) {
        const bound = lockout.naturalMs + lockout.lengthMs;
        if (lockout.endMs + 1000 > bound) this.caps++;
        lockout.endMs = Math.min(lockout.endMs + 1000, bound);
        lockout.moves.push(nowMs);
        this.moves++;
        if (!isOld) this.early++;
      } else if (!movedJustNow) this.spared++;
      return this.refusal(lockout.endMs, lockout.lengthMs, nowMs);
    }
    const minute = this.nextFree(limits.perMinute, 60_000, nowMs);
    const burst = this.nextFree(limits.burst, 1_000, nowMs);
    if (minute > nowMs || burst > nowMs) {
      const naturalMs = Math.max(minute, burst);
      const lengthMs = minute === naturalMs ? 60_000 : 1_000;
      this.lockout = { openedMs: nowMs, naturalMs, lengthMs, endMs: naturalMs, moves: [] };
      return this.refusal(naturalMs, lengthMs, nowMs);
    }
    this.lockout = undefined;
    this.admitted.push(nowMs);
    const nextFreeMs =
      Math.max(this.nextFree(limits.perMinute, 60_000, nowMs), this.nextFree(limits.burst, 1_000, nowMs)) - nowMs;
    return {
      admitted: true,
      limits,
      remaining: limits.perMinute - this.within(60_000, nowMs),
      resetMs: 60_000,
      nextFreeMs: Math.ceil(nextFreeMs),
      retryAfterMs: 0,
      refusedBy: undefined,
      chargedAtMs: nowMs,
    };
  }

  /** Forgets an admission. If the windows are free earlier by that, the lockout ends as much earlier. */
  giveBack({ chargedAtMs }: LimitDecision, nowMs: number): void {
    const index = chargedAtMs === undefined ? -1 : this.admitted.lastIndexOf(chargedAtMs);
    if (index === -1 || nowMs >= (chargedAtMs ?? 0) + 60_000) return;
    this.admitted.splice(index, 1);
    const { lockout, limits } = this;
    if (lockout === undefined || limits === undefined) return;
    const freeMs = Math.max(this.nextFree(limits.perMinute, 60_000, nowMs), this.nextFree(limits.burst, 1_000, nowMs));
    const earlierMs = Math.max(0, lockout.naturalMs - freeMs);
    lockout.naturalMs -= earlierMs;
    lockout.endMs -= earlierMs;
  }

  refusal(endMs: number, lengthMs: number, nowMs: number): LimitDecision {
    const wholeMs = (this.admitted.at(-1) ?? nowMs) + 60_000 - nowMs;
    const retryAfterMs = Math.ceil(endMs - nowMs);
    return {
      admitted: false,
      limits: this.limits ?? sixty,
      remaining: 0,
      resetMs: Math.max(Math.ceil(wholeMs), retryAfterMs),
      nextFreeMs: retryAfterMs,
      retryAfterMs,
      refusedBy: lengthMs === 60_000 ? 'minute' : 'burst',
      chargedAtMs: undefined,
    };
  }
}

/** A small random source with a seed, so that a failure can be run again. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Whatever a decision says must come true. Each claim is tried out on a copy. */
export async function checkClaims(limiter: Limiter, decision: LimitDecision, nowMs: number): Promise<void> {
  const { limits, resetMs, retryAfterMs, remaining, nextFreeMs } = decision;
  const later = async (ms: number) => (await limiter.copy()).decide(limits, nowMs + ms, onItsWay);
  const stands = async (ms: number) => (await limiter.copy()).peek(limits, nowMs + ms);

  assert.equal((await later(nextFreeMs)).admitted, true, 'the next free slot is free');
  if (nextFreeMs > 0) assert.equal((await later(nextFreeMs - 1)).admitted, false, 'and none before');
  assert.equal((await stands(resetMs)).remaining, limits.perMinute, 'the quota is whole at Reset');
  if (!decision.admitted) {
    assert.equal(remaining, 0);
    assert.ok(resetMs >= retryAfterMs);
    assert.equal((await later(retryAfterMs)).admitted, true, 'waiting it out admits');
    const whole = await later(Math.ceil(retryAfterMs / 1000) * 1000);
    assert.equal(whole.admitted, true, 'so do the whole seconds of the header');
    return;
  }
  assert.ok((await stands(resetMs - 1)).remaining < limits.perMinute, 'and not before');
  const copy = await limiter.copy();
  const unhurried = { perMinute: limits.perMinute, burst: 1_000_000 };
  const all = await Promise.all(Array.from({ length: remaining + 1 }, () => copy.decide(unhurried, nowMs, onItsWay)));
  assert.equal(all.filter(({ admitted }) => admitted).length, remaining, 'Remaining is what can still be sent');
}

/** A caller sends at about `pace` times its limit's rate, and after a refusal has one habit or another. */
function pause(
  random: () => number,
  tickMs: number,
  mood: { pace: number; stubborn: boolean },
  last: LimitDecision,
): number {
  const { perMinute } = last.limits;
  // Times at which something turns.
  const turns = [249, 250 - tickMs, 250, 251, 999, 1000 - tickMs, 1000, 59_999, 60_000 - tickMs, 60_000];
  const one = <T>(list: T[]): T => list[Math.floor(random() * list.length)] as T;
  const exact = (ms: number) => Math.floor(ms / tickMs) * tickMs;
  if (last.admitted) mood.stubborn = random() < 0.1;
  else if (mood.stubborn) return exact(250 + random() * 20);
  else if (random() < 0.5) {
    const { retryAfterMs } = last;
    const whole = Math.ceil(retryAfterMs / 1000) * 1000;
    return one([0, 0, 0, exact(random() * 600), one(turns.slice(0, 7)), retryAfterMs - 1, retryAfterMs, whole]);
  }
  if (random() < 3 / perMinute) mood.pace = one([0.5, 1, 3, 300, 300]);
  const rareness = random() * perMinute;
  if (rareness < 0.2) return exact(random() * 30_000);
  if (rareness < 0.4) return one(turns);
  return random() < 0.3 ? 0 : exact((random() * 60_000) / perMinute / mood.pace);
}

/** Some requests come on connections that were informed since the lockout opened, or just then, some on others. */
function quiet(random: () => number, tickMs: number, { lockout }: Model, nowMs: number): number {
  const sinceOpeningMs = lockout === undefined ? 0 : nowMs - lockout.openedMs;
  const some = Math.floor((random() * 300) / tickMs) * tickMs;
  const all = [onItsWay, onItsWay, 0, tickMs, sinceOpeningMs, sinceOpeningMs + tickMs, sinceOpeningMs - tickMs, some];
  return Math.max(0, all[Math.floor(random() * all.length)] ?? 0);
}

export interface Walk {
  limiter: Limiter;
  /** The smallest time unit of the limiter; a sum of them must be exact. */
  tickMs: number;
  seed: number;
  steps: number;
  choose: (random: () => number, now: Limits) => Limits;
  /** Whether some requests are not served, and give back what they were charged, now or later. */
  givesBack?: boolean;
}

/** A long random life of one caller; every answer must be the model's. */
export async function walk({ limiter, tickMs, seed, steps, choose, givesBack = false }: Walk) {
  const random = createRandom(seed);
  const model = new Model();
  const reached = { admitted: 0, minute: 0, burst: 0, moves: 0, early: 0, spared: 0, caps: 0, changes: 0 };
  const given = { ofAll: 0, inLockout: 0 };
  const mood = { pace: 3, stubborn: false };
  /** Admitted requests that will turn out not to be served. */
  const unserved: LimitDecision[] = [];
  let nowMs = Math.floor((random() * 1e9) / tickMs) * tickMs;
  let limits = choose(random, sixty);
  let last = await limiter.peek(limits, nowMs);
  for (let step = 0; step < steps; step++) {
    nowMs += pause(random, tickMs, mood, last);
    const chosen = choose(random, limits);
    if (chosen !== limits) reached.changes++;
    limits = chosen;
    const foretold = random() < 0.02 ? (await limiter.peek(limits, nowMs)).admitted : undefined;
    const quietMs = quiet(random, tickMs, model, nowMs);
    const deciding = limiter.decide(limits, nowMs, quietMs);
    last = deciding instanceof Promise ? await deciding : deciding;
    const expected = model.decide(limits, nowMs, quietMs);
    if (!isEqual(last, expected)) assert.deepEqual(last, expected, `seed ${seed}, step ${step}`);
    if (foretold !== undefined) assert.equal(foretold, last.admitted, 'a peek foretells the decision');
    if (random() < Math.min(0.02, 10 / limits.perMinute)) await checkClaims(limiter, last, nowMs);
    reached[last.refusedBy ?? 'admitted']++;
    if (givesBack && last.admitted && random() < 0.2) unserved.push(last);
    const back = givesBack && random() < 0.2 ? unserved.shift() : undefined;
    if (back !== undefined) {
      given.ofAll++;
      if (model.lockout !== undefined && nowMs < model.lockout.endMs) given.inLockout++;
      const standing = await limiter.giveBack(back, nowMs);
      model.giveBack(back, nowMs);
      const peeked = await limiter.peek(model.limits ?? limits, nowMs);
      assert.deepEqual(standing, { ...peeked, limits: back.limits }, 'a give-back says how the caller stands');
    }
  }
  reached.moves = model.moves;
  reached.early = model.early;
  reached.spared = model.spared;
  reached.caps = model.caps;
  return { admitted: model.admitted, reached, given };
}

function isEqual(a: LimitDecision, b: LimitDecision): boolean {
  return (
    a.admitted === b.admitted &&
    a.limits === b.limits &&
    a.remaining === b.remaining &&
    a.resetMs === b.resetMs &&
    a.nextFreeMs === b.nextFreeMs &&
    a.retryAfterMs === b.retryAfterMs &&
    a.refusedBy === b.refusedBy &&
    a.chargedAtMs === b.chargedAtMs
  );
}
