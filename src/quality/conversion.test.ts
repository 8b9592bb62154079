import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs, hourMs } from '../platform/clock.ts';
import { type ConversionFacts, type Counted, suspect } from './conversion.ts';
import {
  addUp,
  afterCodes,
  type CountedCode,
  distinctNumbers,
  type KnownNumber,
  sumChanges,
} from './conversion-count.ts';
import { type JudgedApplication, judge, mayAct, type PastHold } from './conversion-judge.ts';

const nowMs = 20_000 * dayMs + 12 * hourMs + 5;
const thisHour = nowMs - (nowMs % hourMs);
const days = (count: number, numbers: number, approved: number): Counted[] =>
  Array.from({ length: count }, () => ({ numbers, approved }));

function facts(given: Partial<ConversionFacts> & { now?: Counted }): ConversionFacts {
  const { now = { numbers: 40, approved: 0 }, ...more } = given;
  return {
    nowMs,
    hours: [{ hourMs: thisHour, ...now }],
    afterMs: null,
    days: [],
    countryDays: [],
    applicationDays: days(28, 100, 80),
    ...more,
  };
}

test('30 numbers are needed, and hardly one of them may have typed its code in', () => {
  assert.equal(suspect(facts({ now: { numbers: 29, approved: 0 } })), undefined);
  assert.ok(suspect(facts({ now: { numbers: 30, approved: 0 } })), 'none of 30');
  assert.ok(suspect(facts({ now: { numbers: 30, approved: 3 } })), '3 of 30: surely below 26 %');
  assert.equal(suspect(facts({ now: { numbers: 30, approved: 4 } })), undefined);
  assert.ok(suspect(facts({ now: { numbers: 300, approved: 60 } })), 'with more numbers the bounds are narrower');
  assert.equal(suspect(facts({ now: { numbers: 300, approved: 120 } })), undefined);
});

test('an application with few approvals is compared with itself; a bad country too, down to a tenth', () => {
  const rare = days(28, 100, 10);
  assert.equal(suspect(facts({ applicationDays: rare, now: { numbers: 40, approved: 0 } })), undefined);
  assert.ok(suspect(facts({ applicationDays: rare, now: { numbers: 200, approved: 0 } })), 'no one of 200');
  const bad = { countryDays: days(28, 50, 20) };
  assert.equal(suspect(facts({ ...bad, now: { numbers: 40, approved: 2 } })), undefined);
  assert.ok(suspect(facts({ ...bad, now: { numbers: 40, approved: 0 } })), 'less than a third of 36 %');
  assert.ok(suspect(facts({ countryDays: days(28, 50, 1), now: { numbers: 40, approved: 0 } })), 'the floor holds');
});

test('some days of an attack do not become the measure', () => {
  const attacked = [...days(15, 100, 80), ...days(13, 5000, 80)];
  assert.ok(suspect(facts({ applicationDays: attacked, now: { numbers: 40, approved: 2 } })), 'as before the attack');
});

test('a group that loses approvals without more numbers than usual has an outage', () => {
  const usual = { days: days(28, 1000, 800), countryDays: days(28, 1000, 800) };
  assert.equal(suspect(facts({ ...usual, now: { numbers: 400, approved: 0 } })), undefined);
  assert.ok(suspect(facts({ ...usual, now: { numbers: 600, approved: 0 } })), 'over half of a day in two hours');
});

test('only whole hours after the end of a hold count, and none that are older than a day', () => {
  assert.equal(suspect(facts({ afterMs: thisHour + 1 })), undefined);
  assert.ok(suspect(facts({ afterMs: thisHour - 1 })), 'the hour began after the end');
  const old = [{ hourMs: thisHour - 24 * hourMs, numbers: 1000, approved: 0 }];
  assert.equal(suspect(facts({ hours: old })), undefined);
});

const [narrow, otherNarrow, wide] = ['+44770090****', '+44770091****', '+447700******'];
function application(given: Partial<JudgedApplication>, counted: Record<string, Counted>): JudgedApplication {
  const counts = new Map(
    Object.entries(counted).map(([scope, now]) => [
      scope,
      { hours: [{ hourMs: thisHour, ...now }], days: [] as Counted[] },
    ]),
  );
  counts.set('', { hours: [], days: days(28, 100, 80) });
  const groups = Object.keys(counted).map((scope) => ({ scope, country: 'GB' }));
  return { nowMs, groups, holds: [], counts, mayAct: true, ...given };
}
const hold = (scope: string, more: Partial<PastHold> = {}): PastHold => ({
  ...{ id: 'hld_1', scope, country: 'GB', acts: true, beganAtMs: nowMs - hourMs, untilMs: nowMs + hourMs },
  ...{ endedAtMs: null, endedBy: null, ...more },
});
const scopes = (of: JudgedApplication) => judge(of).map(({ scope }) => scope);

test('the smallest group is held, and the larger ones are judged without it', () => {
  const attack = { numbers: 50, approved: 0 };
  const country = { numbers: 250, approved: 120 };
  assert.deepEqual(scopes(application({}, { GB: country, [wide]: { numbers: 60, approved: 5 }, [narrow]: attack })), [
    narrow,
  ]);
  const spread = { [wide]: { numbers: 80, approved: 0 }, [narrow]: { numbers: 20, approved: 0 } };
  assert.deepEqual(scopes(application({}, { GB: country, ...spread })), [wide]);
  assert.deepEqual(scopes(application({}, { GB: { numbers: 90, approved: 2 }, ...spread })), [wide]);
  assert.deepEqual(scopes(application({}, { GB: { numbers: 300, approved: 2 }, ...spread })), [wide, 'GB']);
  const held = application({ holds: [hold(wide), hold(narrow)] }, { [narrow]: attack, [wide]: attack, GB: attack });
  assert.deepEqual(scopes(held), [], 'the country has no other numbers, and is counted without the wide prefix once');
});

test('what is held is not judged again; after an end, what came before does not count', () => {
  const attack = { [narrow]: { numbers: 50, approved: 0 } };
  assert.deepEqual(scopes(application({ holds: [hold(narrow)] }, attack)), []);
  assert.deepEqual(scopes(application({ holds: [hold('GB')] }, attack)), []);
  assert.deepEqual(scopes(application({ holds: [hold(otherNarrow)] }, attack)), [narrow]);
  const ended = hold(narrow, { beganAtMs: nowMs - 7 * hourMs, untilMs: nowMs - hourMs });
  assert.deepEqual(scopes(application({ holds: [ended] }, attack)), [narrow], 'this hour came after its beginning');
  const clicked = hold(narrow, { beganAtMs: nowMs - 7 * hourMs, endedAtMs: nowMs - 1, endedBy: 'acc_1' });
  assert.deepEqual(scopes(application({ holds: [clicked] }, attack)), [], 'an operator has judged it');
});

test('a report turns into a hold when the application may be held; 200 prefixes are the most', () => {
  const attack = { [narrow]: { numbers: 50, approved: 0 } };
  const report = hold(narrow, { acts: false });
  assert.deepEqual(scopes(application({ mayAct: false, holds: [report] }, attack)), []);
  const [verdict] = judge(application({ holds: [report] }, attack));
  assert.deepEqual([verdict?.acts, verdict?.replaces], [true, 'hld_1']);
  const many = Array.from({ length: 200 }, (_, place) => hold(`+4477${String(1000 + place)}****`));
  assert.deepEqual(scopes(application({ holds: many }, { ...attack, GB: { numbers: 90, approved: 0 } })), ['GB']);
});

test('a week and an approval are needed to act', () => {
  const counted = { applicationId: '', countedSinceMs: nowMs - 7 * dayMs, approvedSinceMs: nowMs };
  assert.equal(mayAct(counted, nowMs), true);
  assert.equal(mayAct({ ...counted, countedSinceMs: nowMs - 7 * dayMs + 1 }, nowMs), false);
  assert.equal(mayAct({ ...counted, approvedSinceMs: null }, nowMs), false);
});

/** A small generator, so that a failure can be repeated. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

test('sums are the distinct numbers by hour of their newest code, as counting all codes again tells', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seeded(seed);
    const known = new Map<string, KnownNumber>();
    const sums = new Map<string, Counted>();
    const all: CountedCode[] = [];
    let atMs = nowMs;
    for (let piece = 0; piece < 30; piece++) {
      atMs += Math.floor(random() ** 4 * 40 * hourMs);
      const codes = Array.from({ length: 1 + Math.floor(random() * 12) }, (): CountedCode => {
        const to = `+4477009${String(Math.floor(random() * 30)).padStart(5, '0')}`;
        return { applicationId: random() < 0.5 ? 'a' : 'b', to, startedAtMs: atMs, approved: random() < 0.4 };
      });
      all.push(...codes);
      const numbers = distinctNumbers(
        codes,
        (to) => to,
        () => 'GB',
      );
      for (const change of addUp(numbers.flatMap((each) => sumChanges(known.get(keyOf(each)), each)))) {
        const id = `${change.applicationId} ${change.scope} ${change.hourMs}`;
        const sum = sums.get(id) ?? { numbers: 0, approved: 0 };
        sums.set(id, { numbers: sum.numbers + change.numbers, approved: sum.approved + change.approved });
      }
      for (const each of numbers) known.set(keyOf(each), afterCodes(known.get(keyOf(each)), each));
    }
    const found = new Map([...sums].filter(([, { numbers }]) => numbers !== 0));
    assert.deepEqual(found, bruteForce(all), `seed ${seed}`);
    assert.ok(
      [...sums.values()].every(({ numbers, approved }) => numbers >= approved && approved >= 0),
      `seed ${seed}`,
    );
  }
});

const keyOf = ({ applicationId, number }: KnownNumber) => `${applicationId} ${number}`;

/** Follows each number by itself: it begins anew when its hours are a day apart, and stays in its last hour. */
function bruteForce(codes: CountedCode[]): Map<string, Counted> {
  const sums = new Map<string, Counted>();
  const byNumber = groupBy(codes);
  for (const ofNumber of byNumber.values()) {
    const runs: CountedCode[][] = [];
    const hour = (code: CountedCode) => Math.floor(code.startedAtMs / hourMs);
    for (const code of ofNumber) {
      const run = runs.at(-1);
      const last = run?.at(-1);
      if (run !== undefined && last !== undefined && hour(code) - hour(last) < 24) run.push(code);
      else runs.push([code]);
    }
    for (const run of runs) {
      const last = run.at(-1) as CountedCode;
      const approved = Number(run.some((code) => code.approved));
      for (const scope of [`${last.to.slice(0, -4)}****`, `${last.to.slice(0, -6)}******`, 'GB', '']) {
        const id = `${last.applicationId} ${scope} ${hour(last) * hourMs}`;
        const sum = sums.get(id) ?? { numbers: 0, approved: 0 };
        sums.set(id, { numbers: sum.numbers + 1, approved: sum.approved + approved });
      }
    }
  }
  return sums;
}

function groupBy(codes: CountedCode[]): Map<string, CountedCode[]> {
  const groups = new Map<string, CountedCode[]>();
  for (const code of codes) {
    const id = `${code.applicationId} ${code.to}`;
    groups.set(id, [...(groups.get(id) ?? []), code]);
  }
  return groups;
}
