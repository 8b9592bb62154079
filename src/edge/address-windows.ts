import type { Clock } from '../platform/clock.ts';
import { ownCopy } from '../platform/own-copy.ts';
import { createRecency, type Listed } from './recency.ts';
import { createSlidingWindow, decide, exactMs, isIdle, peek, renew, type SlidingWindow } from './sliding-window.ts';
import type { LocalWindows } from './windows.ts';

interface Address extends Listed<Address> {
  key: string;
  readonly window: SlidingWindow;
  /** What it was last counted for in `slots`; the window gives memory back by itself. */
  slots: number;
  returning: boolean;
}

export interface AddressWindows extends LocalWindows {
  /** Places for admitted times, over all windows: the greater part of the memory when addresses are busy. */
  readonly slots: number;
}

export interface AddressWindowsOptions {
  clock: Clock;
  maxAddresses?: number;
  /** Bounds `slots`. One window alone may have as many as its limit, whatever this says. */
  maxEntries?: number;
}

/** The part of the table that addresses seen again may take; the rest is there for new ones to be seen again. */
const returningShare = 0.8;

/**
 * The same windows for callers' addresses, in bounded memory. While they fit, they are exact.
 *
 * When they do not, the least recently seen is forgotten: first the idle, then of the addresses seen once, last of those
 * seen again. So a flood of addresses that come once leaves the history of every other caller alone. Forgetting was
 * preferred to shared overflow windows because those refuse the innocent: in a flood, a new address would find the
 * shared budget spent by others. It leaves nobody unlimited: an address above its limit is seen so often that the rest
 * of a full table would have to be seen between two of its requests (with the defaults, 8 million requests a second), or
 * hundreds of others would have to be at their own limits to use all slots up.
 */
export function createAddressWindows(options: AddressWindowsOptions): AddressWindows {
  const { clock, maxAddresses = 100_000, maxEntries = 4_000_000 } = options;
  const addresses = new Map<string, Address>();
  const unseen = createSlidingWindow();
  const onceSeen = createRecency<Address>();
  const returning = createRecency<Address>();
  const mostReturning = Math.ceil(maxAddresses * returningShare);
  let slots = 0;

  function forget(address: Address): void {
    (address.returning ? returning : onceSeen).remove(address);
    addresses.delete(address.key);
    slots -= address.slots;
    address.slots = 0;
    address.returning = false;
  }

  /** The oldest of a list is the first to become idle, so a look at two finds whatever there is to find. */
  function forgetIdle(nowMs: number): void {
    if (onceSeen.oldest !== undefined && isIdle(onceSeen.oldest.window, nowMs)) forget(onceSeen.oldest);
    if (returning.oldest !== undefined && isIdle(returning.oldest.window, nowMs)) forget(returning.oldest);
  }

  /** The address whose history is missed least, this one excepted. */
  function leastMissed(except?: Address): Address | undefined {
    const found = onceSeen.oldest === except ? returning.oldest : (onceSeen.oldest ?? returning.oldest);
    return found === except ? undefined : found;
  }

  /** A new place or, when the table is full, that of the address missed least, which spares the collector its memory. */
  function findPlace(key: string): Address {
    const leaving = addresses.size < maxAddresses ? undefined : leastMissed();
    if (leaving === undefined) {
      return { key, window: createSlidingWindow(), slots: 0, returning: false, newer: undefined, older: undefined };
    }
    forget(leaving);
    renew(leaving.window);
    leaving.key = key;
    return leaving;
  }

  function add(key: string): Address {
    const address = findPlace(ownCopy(key));
    addresses.set(address.key, address);
    onceSeen.addNewest(address);
    return address;
  }

  function seeAgain(address: Address): void {
    (address.returning ? returning : onceSeen).remove(address);
    address.returning = true;
    returning.addNewest(address);
    const demoted = returning.length > mostReturning ? returning.oldest : undefined;
    if (demoted === undefined) return;
    returning.remove(demoted);
    demoted.returning = false;
    onceSeen.addNewest(demoted);
  }

  function countSlots(address: Address): void {
    slots += address.window.times.length - address.slots;
    address.slots = address.window.times.length;
    while (slots > maxEntries) {
      const leaving = leastMissed(address);
      if (leaving === undefined) return;
      forget(leaving);
    }
  }

  return {
    get size() {
      return addresses.size;
    },
    get slots() {
      return slots;
    },
    decide(key, limits, informedAtMs) {
      const nowMs = exactMs(clock.steadyMs());
      forgetIdle(nowMs);
      let address = addresses.get(key);
      if (address === undefined) address = add(key);
      else seeAgain(address);
      const decision = decide(address.window, limits, nowMs, nowMs - exactMs(informedAtMs));
      if (address.slots !== address.window.times.length) countSlots(address);
      return decision;
    },
    peek: (key, limits) => peek(addresses.get(key)?.window ?? unseen, limits, exactMs(clock.steadyMs())),
  };
}
