// What the guard by conversion lets through and whom it hurts: whole days of traffic, with a seed, through the real rule.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inShort } from '../../test/support/effort.ts';
import type { GuardHold } from '../http/sending-rights.ts';
import { prefixOf, wideGroupOf } from '../messages/number-prefix.ts';
import { loadPhoneNumbers } from '../messages/phone-number.ts';
import { dayMs, hourMs, minuteMs } from '../platform/clock.ts';
import type { KeyRing } from '../platform/keys.ts';
import { findHeld } from '../verify/held-number.ts';
import { type Counted, enoughNumbers } from './conversion.ts';
import {
  addUp,
  afterCodes,
  type CountedCode,
  distinctNumbers,
  type KnownNumber,
  sumChanges,
} from './conversion-count.ts';
import { holdLastsMs, judge, type PastHold } from './conversion-judge.ts';

await loadPhoneNumbers();

const startMs = 20_000 * dayMs;
const tickMs = 10 * minuteMs;
const key = Buffer.alloc(32, 7);
const keys: Pick<KeyRing, 'version' | 'keyFor'> = { version: 1, keyFor: () => key };
/** The default of `per_prefix`, and what is left of it in a hold. */
const [perPrefix, perHeldPrefix] = [50, 5];

/** People of a country: they spread over all ranges, and most type their code in. */
interface Country {
  code: string;
  /** What each range begins with; six digits follow. */
  ranges: string[];
  perDay: number;
  share: number;
  /** Launched today. */
  isNew?: boolean;
}

interface Attack {
  perHour: number;
  fromHour: number;
  toHour: number;
  number: (random: () => number) => string;
  country: string;
  /** The share of its own numbers that the attacker approves. */
  approves?: number;
}

interface Scenario {
  seed: number;
  hours: number;
  countries: Country[];
  attacks?: Attack[];
  /** True while texts to a number are lost, though its network tells that they arrived. */
  isLost?: (to: string, hour: number) => boolean;
}

interface Outcome {
  people: number;
  /** People whose start was blocked. */
  hurt: number;
  ordered: number;
  /** Texts of the attack that left. */
  through: number;
  holds: PastHold[];
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const digits = (random: () => number, count: number) => String(Math.floor(random() * 10 ** count)).padStart(count, '0');
const rangesOf = (lead: string, count: number) => Array.from({ length: count }, (_, place) => `${lead}${10 + place}`);
/** Few at night, most in the evening. */
const partOfDay = (hour: number) => (1 + 0.85 * Math.sin(((hour - 10) / 24) * 2 * Math.PI)) / 24;

/** A number of events around a mean. */
function around(random: () => number, mean: number): number {
  return Math.floor(mean) + (random() < mean % 1 ? 1 : 0);
}

function simulate({ seed, hours, countries, attacks = [], isLost = () => false }: Scenario): Outcome {
  const random = seeded(seed);
  const known = new Map<string, KnownNumber>();
  const counts = new Map<string, { hours: { hourMs: number; numbers: number; approved: number }[]; days: Counted[] }>();
  const starts = new Map<string, number[]>();
  const holds: PastHold[] = [];
  const outcome = { people: 0, hurt: 0, ordered: 0, through: 0, holds };
  let sent: CountedCode[] = [];
  let open: GuardHold[] = [];

  for (const { ranges, code, perDay, share, isNew } of countries) {
    const days = (numbers: number) =>
      Array.from({ length: 28 }, () => ({ numbers: Math.round(numbers), approved: Math.round(numbers * share) }));
    if (isNew) continue;
    add('', days(perDay));
    add(code, days(perDay));
    // Days of prefixes with fewer numbers are not kept.
    if (perDay / ranges.length >= 10) for (const range of ranges) add(`${range}******`, days(perDay / ranges.length));
  }
  function add(scope: string, days: Counted[]): void {
    const before = counts.get(scope)?.days;
    const sum = days.map(({ numbers, approved }, place) => ({
      numbers: numbers + (before?.[place]?.numbers ?? 0),
      approved: approved + (before?.[place]?.approved ?? 0),
    }));
    counts.set(scope, { hours: [], days: sum });
  }

  /** Whether its text leaves. */
  function start(to: string, atMs: number, approves: boolean): boolean {
    const prefix = prefixOf(to);
    const lately = starts.get(prefix) ?? [];
    while ((lately[0] ?? atMs) <= atMs - hourMs) lately.shift();
    const held = findHeld(keys, open, to, atMs);
    if (lately.length >= perPrefix) return false;
    if (held !== undefined && !(held.isSample && lately.length < perHeldPrefix)) return false;
    lately.push(atMs);
    starts.set(prefix, lately);
    sent.push({ applicationId: 'app', to, startedAtMs: atMs, approved: approves });
    return true;
  }

  function count(codes: CountedCode[], countryOf: (to: string) => string, nowMs: number): void {
    const numbers = distinctNumbers(codes, (to) => to, countryOf);
    const touched = new Map<string, string>();
    for (const change of addUp(numbers.flatMap((each) => sumChanges(known.get(each.number), each)))) {
      const of = counts.get(change.scope) ?? { hours: [], days: [] };
      counts.set(change.scope, of);
      const hour = of.hours.findLast((each) => each.hourMs === change.hourMs);
      if (hour === undefined)
        of.hours.push({ hourMs: change.hourMs, numbers: change.numbers, approved: change.approved });
      else {
        hour.numbers += change.numbers;
        hour.approved += change.approved;
      }
    }
    for (const each of numbers) {
      known.set(each.number, afterCodes(known.get(each.number), each));
      if (!each.approved) for (const scope of each.scopes) if (scope !== '') touched.set(scope, each.country);
    }
    const groups = [...touched]
      .map(([scope, country]) => ({ scope, country }))
      .filter(
        ({ scope }) => (counts.get(scope)?.hours ?? []).reduce((sum, each) => sum + each.numbers, 0) >= enoughNumbers,
      );
    const recent = holds.filter(({ untilMs }) => untilMs > nowMs - dayMs).toReversed();
    for (const { scope, country } of judge({ nowMs, groups, holds: recent, counts, mayAct: true })) {
      const id = `hld_${holds.length}`;
      holds.push({
        id,
        scope,
        country,
        acts: true,
        beganAtMs: nowMs,
        untilMs: nowMs + holdLastsMs,
        endedAtMs: null,
        endedBy: null,
      });
      open.push({
        id,
        scope,
        beganAtMs: nowMs,
        untilMs: nowMs + holdLastsMs,
        numbers: 30,
        approved: 0,
        leastShare: 0.1,
      });
    }
  }

  const countryByLead = new Map(countries.flatMap(({ ranges, code }) => ranges.map((range) => [range, code])));
  const countryOf = (to: string) =>
    countryByLead.get(wideGroupOf(to).replaceAll('*', '')) ??
    attacks.find(({ country }) => country !== '')?.country ??
    '';
  for (let atMs = startMs; atMs < startMs + hours * hourMs; atMs += tickMs) {
    const hour = (atMs - startMs) / hourMs;
    open = open.filter(({ untilMs }) => untilMs > atMs);
    // Codes count when they are ten minutes old.
    const over = sent;
    sent = [];
    count(over, countryOf, atMs);
    for (const { ranges, perDay, share } of countries) {
      for (let left = around(random, (perDay * partOfDay(hour)) / 6); left > 0; left--) {
        const to = `${ranges[Math.floor(random() * ranges.length)]}${digits(random, 6)}`;
        const approves = random() < share && !isLost(to, hour);
        outcome.people++;
        if (!start(to, atMs, approves)) outcome.hurt++;
      }
    }
    for (const { perHour, fromHour, toHour, number, approves = 0 } of attacks) {
      if (hour < fromHour || hour >= toHour) continue;
      for (let left = around(random, perHour / 6); left > 0; left--) {
        outcome.ordered++;
        if (start(number(random), atMs, random() < approves)) outcome.through++;
      }
    }
  }
  return outcome;
}

const gb = (perDay: number): Country => ({ code: 'GB', ranges: rangesOf('+4477', 80), perDay, share: 0.8 });
const de = (perDay: number): Country => ({ code: 'DE', ranges: rangesOf('+4917', 80), perDay, share: 0.75 });
const attackHours = { fromHour: 2, toHour: 26 };
const percentOf = (part: number, whole: number) => `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;
const shown: string[] = [];

function show(what: string, { people, hurt, ordered, through, holds }: Outcome): void {
  const scopes = [...new Set(holds.map(({ scope }) => scope))];
  const held = scopes.length === 0 ? 'none' : scopes.length > 3 ? `${scopes.length} groups` : scopes.join(' ');
  shown.push(
    `| ${what} | ${ordered} | ${through} (${percentOf(through, ordered)}) | ${hurt} of ${people} (${percentOf(hurt, people)}) | ${held} |`,
  );
}

test('pumping by prefix: five prefixes are held, and the country goes on', () => {
  const leads = ['+447710', '+447720', '+447730', '+447740', '+447750'];
  const number = (random: () => number) => `${leads[Math.floor(random() * leads.length)]}42${digits(random, 4)}`;
  const attacks = [{ perHour: 200, ...attackHours, country: 'GB', number }];
  const outcome = simulate({ seed: 1, hours: 26, countries: [gb(2000), de(500)], attacks });
  show('5 prefixes of a busy country, 200 an hour', outcome);
  assert.ok(outcome.through < outcome.ordered * 0.15, `${outcome.through} of ${outcome.ordered} got through`);
  assert.ok(outcome.hurt < outcome.people * 0.005, `${outcome.hurt} of ${outcome.people} people were hurt`);
  assert.ok(
    outcome.holds.every(({ scope }) => scope.startsWith('+')),
    'no country is held',
  );
});

test('pumping by range: 100 prefixes with a few numbers each are held by their wide prefix', () => {
  const attacks = [
    { perHour: 300, ...attackHours, country: 'GB', number: (random: () => number) => `+447742${digits(random, 6)}` },
  ];
  const outcome = simulate({ seed: 2, hours: 26, countries: [gb(2000), de(500)], attacks });
  show('a range of a million numbers in a busy country, 300 an hour', outcome);
  assert.ok(outcome.through < outcome.ordered * 0.15, `${outcome.through} of ${outcome.ordered} got through`);
  assert.ok(outcome.hurt < outcome.people * 0.02, `${outcome.hurt} of ${outcome.people} people were hurt`);
});

test('pumping by country: a country that the application never had is held', () => {
  const ranges = rangesOf('+9477', 60);
  const number = (random: () => number) =>
    `${ranges[Math.floor(random() * ranges.length)]}${digits(random, 6)}`.slice(0, 12);
  const attacks = [{ perHour: 1000, ...attackHours, country: 'LK', number }];
  const outcome = simulate({ seed: 3, hours: 26, countries: [gb(2000), de(500)], attacks });
  show('a new country, 1,000 an hour', outcome);
  assert.ok(
    outcome.holds.some(({ scope }) => scope === 'LK'),
    'the country is held',
  );
  assert.ok(outcome.through < outcome.ordered * 0.12, `${outcome.through} of ${outcome.ordered} got through`);
  assert.equal(outcome.hurt, 0);
});

test('an attacker who approves some of its own numbers is held below a quarter, and not above a third', () => {
  const ranges = rangesOf('+9477', 60);
  const number = (random: () => number) =>
    `${ranges[Math.floor(random() * ranges.length)]}${digits(random, 6)}`.slice(0, 12);
  const shares = inShort([0.2, 0.35], [0.1, 0.2, 0.35]);
  for (const [approves, isHeld] of shares.map((share) => [share, share < 0.25] as const)) {
    const attacks = [{ perHour: 1000, ...attackHours, country: 'LK', number, approves }];
    const outcome = simulate({ seed: 4, hours: 26, countries: [gb(2000), de(500)], attacks });
    show(`the same, and ${100 * approves} % of its numbers are approved`, outcome);
    assert.equal(
      outcome.through < outcome.ordered * 0.2,
      isHeld,
      `${approves}: ${outcome.through} of ${outcome.ordered}`,
    );
  }
});

test('an outage that looks like pumping: texts are lost and told as delivered, and fewer than 0.5 % of people are hurt', () => {
  const network = (to: string) => to >= '+447710' && to < '+447730';
  for (const perDay of inShort([300], [300, 10_000])) {
    const countries = [gb(perDay), de(perDay / 4)];
    const oneNetwork = simulate({
      seed: 5,
      hours: 30,
      countries,
      isLost: (to, hour) => hour >= 10 && hour < 22 && network(to),
    });
    show(`one network of a country loses all texts for 12 hours, ${perDay} people a day`, oneNetwork);
    assert.ok(oneNetwork.hurt < oneNetwork.people * 0.005, `${oneNetwork.hurt} of ${oneNetwork.people}`);
    const whole = simulate({
      seed: 6,
      hours: 30,
      countries,
      isLost: (to, hour) => hour >= 12 && hour < 18 && to.startsWith('+44'),
    });
    show(`a whole country loses all texts for 6 hours, ${perDay} people a day`, whole);
    assert.ok(whole.hurt < whole.people * 0.005, `${whole.hurt} of ${whole.people}`);
  }
});

test('a slow launch in a new country, with half the usual share, is not held', () => {
  for (let seed = 10; seed < inShort(12, 18); seed++) {
    const launch = { code: 'FR', ranges: rangesOf('+3367', 60), perDay: 120, share: 0.4, isNew: true };
    const outcome = simulate({
      seed,
      hours: 48,
      countries: [gb(500), { ...launch, ranges: launch.ranges.map((each) => each.slice(0, 6)) }],
    });
    assert.deepEqual(outcome.holds, [], `seed ${seed}`);
    if (seed === 10) show('a launch in a new country, 120 people a day, 40 % type their code in', outcome);
  }
});

test('a night with little traffic, in which few type their code in, is not held', () => {
  for (let seed = 30; seed < inShort(32, 38); seed++) {
    const isLost = (to: string, hour: number) => hour < 7 && Number(to.slice(-1)) < 6;
    const outcome = simulate({ seed, hours: 24, countries: [gb(200), de(60)], isLost });
    assert.deepEqual(outcome.holds, [], `seed ${seed}`);
    if (seed === 30) show('a quiet night with half the usual share', outcome);
  }
});

test('the table of the decision record is what the simulations show', () => {
  const record = readFileSync(new URL('../../docs/decisions/0024-conversion-guard.md', import.meta.url), 'utf8');
  for (const row of shown)
    assert.ok(record.includes(row), `docs/decisions/0024-conversion-guard.md lacks\n${shown.join('\n')}`);
});
