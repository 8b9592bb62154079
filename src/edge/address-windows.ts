import type { Clock } from '../platform/clock.ts';
import { createRecency, type Listed } from './recency.ts';
import {
  createSlidingWindow,
  decide,
  exactMs,
  giveBack,
  isIdle,
  peek,
  renew,
  type SlidingWindow,
} from './sliding-window.ts';
import type { LocalWindows } from './windows.ts';

interface Address extends Listed<Address> {
  key: string;
  readonly window: SlidingWindow;
  /** How many slots of this address the total includes. The window frees memory by itself. */
  slots: number;
  returning: boolean;
}

export interface AddressWindows extends LocalWindows {
  /** Slots for admitted times, over all windows. Busy addresses make them the largest part of the memory. */
  readonly slots: number;
}

export interface AddressWindowsOptions {
  clock: Clock;
  maxAddresses?: number;
  /** Bounds `slots`. A single window may still have as many slots as its limit. */
  maxEntries?: number;
}

/** The share of the table for addresses seen more than once. New addresses use the remainder. */
const returningShare = 0.8;

/**
 * Rate windows of addresses in bounded memory, exact while they fit. A full table drops the least recently seen: first
 * idle addresses, then those seen once, last those seen again. So a flood of new addresses keeps other callers'
 * history. Shared overflow windows would refuse innocent callers, because others had spent the budget.
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

  /** The oldest entry of each list becomes idle first, so checking two entries is enough. */
  function forgetIdle(nowMs: number): void {
    if (onceSeen.oldest !== undefined && isIdle(onceSeen.oldest.window, nowMs)) forget(onceSeen.oldest);
    if (returning.oldest !== undefined && isIdle(returning.oldest.window, nowMs)) forget(returning.oldest);
  }

  /**
   * The address to drop next, other than `except`. No address escapes its limit this way: a full table of others would
   * have to call between two of its requests (8 million requests a second by default), or hundreds of others would have
   * to be at their limits to use up all slots.
   */
  function leastMissed(except?: Address): Address | undefined {
    const found = onceSeen.oldest === except ? returning.oldest : (onceSeen.oldest ?? returning.oldest);
    return found === except ? undefined : found;
  }

  /** A full table reuses the entry of the dropped address, which saves garbage collection. */
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
    const address = findPlace(key);
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
    giveBack: (key, decision) => giveBack(addresses.get(key)?.window ?? unseen, decision, exactMs(clock.steadyMs())),
  };
}
