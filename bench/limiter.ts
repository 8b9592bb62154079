// What one decision of the in-process limiter costs: node --import tsx bench/limiter.ts
// Every figure also stands as a ratio to reading a Map with the same keys in the same run, because nanoseconds differ
// from machine to machine and from minute to minute.
import { addressKey } from '../src/edge/address-key.ts';
import { createAddressWindows } from '../src/edge/address-windows.ts';
import { createMemoryWindows } from '../src/edge/memory-windows.ts';
import type { LocalWindows } from '../src/edge/windows.ts';
import type { LimitDecision, Limits } from '../src/http/admission.ts';
import { createHeadWriter } from '../src/http/head.ts';
import { systemClock } from '../src/platform/clock.ts';
import { type OwnedText, ownedText } from '../src/platform/owned-text.ts';

/** No caller here was informed of a block. */
const longAgo = Number.NEGATIVE_INFINITY;

const rounds = 5;
const decisions = 1_000_000;

/** Kept from being optimised away by being printed. */
let sink = 0;

/**
 * The median of some rounds, in nanoseconds a call. Of this process's own time, the collector's included: what else the
 * machine does meanwhile is not the limiter's doing.
 */
function measure(call: (index: number) => number): number {
  const found: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage();
    for (let i = 0; i < decisions; i++) sink += call(i);
    const { user, system } = process.cpuUsage(start);
    found.push(((user + system) * 1000) / decisions);
  }
  return found.sort((a, b) => a - b)[rounds >> 1] ?? 0;
}

function keysOf(count: number): string[] {
  // Visited in an order that no cache foresees.
  return Array.from({ length: count }, (_, i) => `reg_${((i * 7919) % count).toString(36).padStart(20, '0')}`);
}

function print(what: string, ns: number, baselineNs: number): void {
  console.log(
    `${what.padEnd(58)} ${ns.toFixed(0).padStart(6)} ns  ${(ns / baselineNs).toFixed(2).padStart(7)} x Map.get`,
  );
}

/** A clock that moves by a fixed step at each reading: traffic of exactly that rate, as fast as it can be decided. */
function paced(stepMs: number) {
  let nowMs = 1_000_000;
  return { nowMs: () => nowMs, steadyMs: () => (nowMs += stepMs) };
}

function run(windows: LocalWindows, keys: string[], limits: Limits): { ns: number; admitted: number } {
  let admitted = 0;
  const ns = measure((i) => {
    const decision = windows.decide(keys[i % keys.length] ?? '', limits, longAgo);
    if (decision.admitted) admitted++;
    return decision.remaining;
  });
  return { ns, admitted: admitted / (rounds * decisions) };
}

for (const count of [1, 1000, 1_000_000]) {
  const keys = keysOf(count);
  const map = new Map(keys.map((key, index) => [key, index]));
  const baselineNs = measure((i) => map.get(keys[i % count] ?? '') ?? 0);
  console.log(`\n${count.toLocaleString('en')} keys`);
  print('Map.get', baselineNs, baselineNs);
  for (const perMinute of [60, 6000]) {
    // So that each key sends at half the limit's rate: all are admitted, from a window that is half full.
    const spread = { perMinute, burst: perMinute };
    const easy = run(createMemoryWindows({ clock: paced(120_000 / perMinute / count) }), keys, spread);
    print(`admitted (${Math.round(easy.admitted * 100)} %), ${perMinute} a minute`, easy.ns, baselineNs);
    // One key comes at a hundred times its rate and finds a full minute; many come ten times a second and find a full
    // second, because filling a million minutes would be most of the run. Nearly all are refused, and punished.
    const clock = paced(count === 1 ? 600 / perMinute : 100 / count);
    const hard = run(createMemoryWindows({ clock }), keys, count === 1 ? spread : { perMinute, burst: 1 });
    print(`refused (${Math.round((1 - hard.admitted) * 100)} %), ${perMinute} a minute`, hard.ns, baselineNs);
  }
  const limits = { perMinute: 6000, burst: 2000 };
  const real = run(createMemoryWindows({ clock: systemClock }), keys, limits);
  print(`system clock (${Math.round(real.admitted * 100)} % admitted), 6000 a minute`, real.ns, baselineNs);
}

console.log('\nAddresses and headers');
const limits = { perMinute: 6000, burst: 1000 };
const few = keysOf(1000);
const map = new Map(few.map((key, index) => [key, index]));
const baselineNs = measure((i) => map.get(few[i % few.length] ?? '') ?? 0);
print('1,000 addresses', run(createAddressWindows({ clock: paced(1) }), few, limits).ns, baselineNs);
const many = keysOf(1_000_000);
const flooded = createAddressWindows({ clock: paced(0.01) });
print('a flood of 1,000,000 addresses, room for 100,000', run(flooded, many, limits).ns, baselineNs);
let worstMs = 0;
for (let from = 0; from < many.length; from += 1000) {
  const start = process.cpuUsage();
  for (const key of many.slice(from, from + 1000)) flooded.decide(key, limits, longAgo);
  const { user, system } = process.cpuUsage(start);
  worstMs = Math.max(worstMs, (user + system) / 1000);
}
console.log(`longest 1,000 of the flood: ${worstMs.toFixed(1)} ms; ${flooded.size} addresses, ${flooded.slots} slots`);

const addresses = Array.from({ length: 1000 }, (_, i) => [
  `203.0.113.${i % 256}`,
  `::ffff:10.1.2.${i % 256}`,
  `2001:db8:${i}::1`,
]);
for (const kind of [0, 1, 2]) {
  const given = addresses.map((row) => ownedText(row[kind] ?? ''));
  print(
    `key of an address like ${given[7]}`,
    measure((i) => addressKey(given[i % 1000] as OwnedText).length),
    baselineNs,
  );
}
const one = createMemoryWindows({ clock: systemClock });
const heads = createHeadWriter({ clock: systemClock, https: false, keepAliveMs: 72_000 });
const framing = { length: 100, last: false };
const headOf = (decision: LimitDecision) =>
  heads.forSocket({ status: 200, correlationId: 'req_1', decision, own: {}, type: 'application/json' }, framing);
const made: LimitDecision[] = Array.from({ length: 1000 }, () => one.decide('one', limits, longAgo));
print(
  'head of an answer',
  measure((i) => headOf(made[i % 1000] as LimitDecision).length),
  baselineNs,
);
console.log(`\n(${sink})`);
