import type { GuardHold } from '../../src/http/sending-rights.ts';
import { narrowGroupOf, wideGroupOf } from '../../src/messages/numbers/number-prefix.ts';
import { dayMs, hourMs, minuteMs } from '../../src/platform/clock.ts';
import type { KeyRing } from '../../src/platform/crypto/keys.ts';
import { type ConversionConstants, conversionConstants } from '../../src/quality/conversion/constants.ts';
import type { Counted } from '../../src/quality/conversion/conversion.ts';
import type { CountedCode } from '../../src/quality/conversion/count.ts';
import { type BlockedStart, countConversions } from '../../src/quality/conversion/watch.ts';
import { createGuard } from '../../src/verify/guard.ts';
import { findHeld } from '../../src/verify/held-number.ts';
import { createTestClock } from '../../test/support/clock.ts';
import type { Attack } from './attacks.ts';
import { createMemoryBook } from './memory-book.ts';
import { happening, type Random, seeded } from './random.ts';
import { clientOf, type Market, numberOf, partOfDay, partOfPlace, type Tenant } from './tenants.ts';

export interface Scenario {
  tenant: Tenant;
  seed: number;
  hours: number;
  attack?: Attack;
  /** Times the usual traffic at this hour. */
  rush?: (hour: number) => number;
  /** True while texts to a number are lost, though its network reports them as delivered. */
  isLost?: (to: string, hour: number, random: Random) => boolean;
  /** A market that opens with the simulation, with this many users a day. */
  launch?: Market & { perDay: number };
  /** Its codes come from an identity server, which never says what became of them: no conversion is counted. */
  byHook?: boolean;
}

export interface Outcome {
  /** Starts of honest people, and how many were refused; the same of those who were never approved. */
  people: number;
  refused: number;
  newPeople: number;
  newRefused: number;
  /** The attacker's starts and texts; and those after its first 500 texts. */
  ordered: number;
  sent: number;
  late: { ordered: number; sent: number };
  /** The most texts of a prefix within an hour, and of a number within a day. */
  mostOfPrefix: number;
  mostOfNumber: number;
  /** New people while the attack goes on. */
  underAttack: { newPeople: number; newRefused: number };
  /** What each hour brought: texts of the attacker and its starts, for the picture. */
  byHour: { ordered: number; sent: number; newPeople: number; newRefused: number }[];
  holds: string[];
}

const uuid = '01890000-0000-7000-8000-000000000001';
const startMs = 20_000 * dayMs;
const tickMs = 10 * minuteMs;
/** An attack begins after this time, in the morning. */
export const attackFromHour = 6;
const countedAfterMs = 10 * minuteMs;
/** The maximum number of texts an attack may get before it has to be stopped. */
export const freeTexts = 500;
const key = Buffer.alloc(32, 7);
const keys: Pick<KeyRing, 'version' | 'keyFor'> = { version: 1, keyFor: () => key };

/** Runs traffic through the rules of the service, on a clock of its own. */
export async function simulate(
  scenario: Scenario,
  constants: ConversionConstants = conversionConstants,
): Promise<Outcome> {
  const { tenant, seed, hours, attack, launch } = scenario;
  const random = seeded(seed);
  const book = createMemoryBook(uuid, startMs - 60 * dayMs);
  const clock = createTestClock(startMs);
  const guard = createGuard({}, 'production');
  const starts = new Map<string, number[]>();
  const outcome: Outcome = {
    ...{ people: 0, refused: 0, newPeople: 0, newRefused: 0, ordered: 0, sent: 0 },
    ...{ late: { ordered: 0, sent: 0 }, underAttack: { newPeople: 0, newRefused: 0 }, byHour: [], holds: [] },
    ...{ mostOfPrefix: 0, mostOfNumber: 0 },
  };
  const markets = launch === undefined ? tenant.markets : [...tenant.markets, launch];
  const countries = new Map(markets.flatMap(({ ranges: all, code }) => all.map((range) => [range, code])));
  const countryOf = (to: string) => countries.get(wideGroupOf(to).slice(0, -6)) ?? codeOf(to);
  const approved = new Set<string>();
  let waiting: { code: CountedCode; atMs: number; isBlocked: boolean }[] = [];
  let open: GuardHold[] = [];
  giveHistory();

  /** What 28 days of this traffic have left. */
  function giveHistory(): void {
    for (const { code, ranges: all, part, share, isNew } of tenant.markets) {
      if (isNew) continue;
      const perDay = tenant.perDay * part;
      const days = (each: number) =>
        Array.from({ length: 28 }, (_, day) => {
          const numbers = happening(random, each * (day % 7 > 4 ? 0.8 : 1.05));
          return { numbers, approved: Math.min(numbers, happening(random, numbers * share)) };
        });
      // Days of prefixes with fewer numbers are not kept.
      const kept = (given: Counted[]) => given.filter(({ numbers }) => numbers >= 10);
      const whole = days(perDay);
      book.addHistory('', whole);
      book.addHistory(code, whole);
      const yesterday = Array.from({ length: 26 }, (_, ago) => {
        const numbers = happening(random, perDay * partOfDay((48 - 1 - ago) % 24));
        const entered = Math.min(numbers, happening(random, numbers * share));
        return { hourMs: startMs - (1 + ago) * hourMs, numbers, approved: entered, held: 0 };
      });
      for (const scope of ['', code]) book.addHours(scope, yesterday);
      all.forEach((range, index) => {
        const own = perDay * partOfPlace(index, all.length);
        if (own > 5) book.addHistory(`${range}******`, kept(days(own)));
        for (let block = 0; block < 100 && own * partOfPlace(block, 100) > 5; block++)
          book.addHistory(`${range}${String(block).padStart(2, '0')}****`, kept(days(own * partOfPlace(block, 100))));
      });
    }
  }

  /** Whether a text leaves, by the rules that the service uses. */
  function start(to: string, atMs: number, clients: string[], wasApproved: boolean, approves: boolean): boolean {
    const lately = startsSince(narrowGroupOf(to), atMs - hourMs);
    const ofNumber = startsSince(to, atMs - dayMs);
    const reason = guard.refusal({
      to,
      country: () => countryOf(to),
      numberType: () => 'MOBILE',
      startsForNumber: ofNumber.length,
      startsForPrefix: lately.length,
      failuresToday: 0,
      held: () => findHeld(keys, open, { to, clients }, atMs),
      wasApproved,
    });
    const code = { applicationId: uuid, to, startedAtMs: atMs, approved: approves, clients };
    if (reason === null) {
      outcome.mostOfPrefix = Math.max(outcome.mostOfPrefix, lately.push(atMs));
      outcome.mostOfNumber = Math.max(outcome.mostOfNumber, ofNumber.push(atMs));
      waiting.push({ code, atMs, isBlocked: false });
    } else if (reason === 'suspected_pumping') waiting.push({ code, atMs, isBlocked: true });
    return reason === null;
  }

  function startsSince(name: string, sinceMs: number): number[] {
    const found = starts.get(name) ?? [];
    starts.set(name, found);
    while ((found[0] ?? sinceMs + 1) <= sinceMs) found.shift();
    return found;
  }

  async function count(nowMs: number): Promise<void> {
    const due = waiting.filter(({ atMs }) => nowMs - atMs >= countedAfterMs);
    if (due.length === 0 || scenario.byHook === true) return;
    waiting = waiting.filter(({ atMs }) => nowMs - atMs < countedAfterMs);
    const codes = due.filter(({ isBlocked }) => !isBlocked).map(({ code }) => code);
    const blocked: BlockedStart[] = due.filter(({ isBlocked }) => isBlocked).map(({ code }) => code);
    const changed = await countConversions(book, { codes, blocked, hashOf: (to) => to, countryOf, clock, constants });
    if (changed.size > 0) open = book.holds.filter(({ acts, endedAtMs }) => acts && endedAtMs === null);
  }

  function people(atMs: number, hour: number): void {
    const rush = scenario.rush?.(hour) ?? 1;
    for (const market of markets) {
      const perDay = 'perDay' in market ? Number(market.perDay) : tenant.perDay * market.part * rush;
      for (let left = happening(random, (perDay * partOfDay(hour % 24) * tickMs) / hourMs); left > 0; left--)
        person(market, atMs, hour);
    }
  }

  function person(market: Market, atMs: number, hour: number): void {
    const to = numberOf(random, market);
    const isReturning = random() < (market.isNew ? 0 : tenant.returning);
    const clients = tenant.tellsClient || attack?.tellsClient ? clientOf(random, tenant, to) : [];
    const types = random() < market.share && !scenario.isLost?.(to, hour, random);
    const isSent = start(to, atMs, clients, isReturning, types);
    const row = hourRow(hour);
    outcome.people++;
    if (!isSent) outcome.refused++;
    if (isReturning) return;
    outcome.newPeople++;
    row.newPeople++;
    if (!isSent) outcome.newRefused++;
    if (!isSent) row.newRefused++;
    if (hour < attackFromHour) return;
    outcome.underAttack.newPeople++;
    if (!isSent) outcome.underAttack.newRefused++;
  }

  const next = attack?.prepare(random);
  function order(atMs: number, hour: number): void {
    if (attack === undefined || next === undefined) return;
    if (hour < attackFromHour || hour >= attackFromHour + attack.hours) return;
    for (let left = happening(random, (attack.perHour * tickMs) / hourMs); left > 0; left--) {
      const { to, clients } = next();
      const approves = random() < attack.approves;
      const isSent = start(to, atMs, attack.tellsClient ? clients : [], approved.has(to), approves);
      if (isSent && approves) approved.add(to);
      const row = hourRow(hour);
      const isLate = outcome.ordered >= freeTexts;
      outcome.ordered++;
      row.ordered++;
      if (isLate) outcome.late.ordered++;
      if (!isSent) continue;
      if (isLate) outcome.late.sent++;
      outcome.sent++;
      row.sent++;
    }
  }

  function hourRow(hour: number) {
    const index = Math.floor(hour);
    const row = outcome.byHour[index] ?? { ordered: 0, sent: 0, newPeople: 0, newRefused: 0 };
    outcome.byHour[index] = row;
    return row;
  }

  for (let atMs = startMs; atMs < startMs + hours * hourMs; atMs += tickMs) {
    const hour = (atMs - startMs) / hourMs;
    if (atMs % (4 * hourMs) === 0) book.tidy(atMs);
    await count(atMs);
    people(atMs, hour);
    order(atMs, hour);
    clock.advance(tickMs);
  }
  outcome.holds = [...new Set(book.holds.map(({ scope }) => scope))];
  return outcome;
}

const codes: readonly [string, string][] = [
  ['+44', 'GB'],
  ['+49', 'DE'],
  ['+33', 'FR'],
  ['+34', 'ES'],
  ['+94', 'LK'],
  ['+92', 'PK'],
  ['+234', 'NG'],
];

function codeOf(to: string): string {
  return codes.find(([lead]) => to.startsWith(lead))?.[1] ?? '';
}
