import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs, hourMs } from '../../platform/clock.ts';
import { conversionConstants as constants } from './constants.ts';
import { type Counted, evidenceOf, isSurge, sharesFor } from './conversion.ts';
import {
  addUp,
  afterCodes,
  type CountedCode,
  changesOfApart,
  distinctNumbers,
  type KnownNumber,
  sumChanges,
} from './count.ts';
import { type JudgedApplication, judge, mayAct, type PastHold, renewals } from './judge.ts';

const nowMs = 20_000 * dayMs + 12 * hourMs + 5;
const thisHour = nowMs - (nowMs % hourMs);
const days = (count: number, numbers: number, approved: number): Counted[] =>
  Array.from({ length: count }, () => ({ numbers, approved }));
/** The count of numbers without an approval that makes a group suspicious, where others had this rate. */
const missesFor = (evidence: number, least: number) =>
  Math.ceil(evidence / Math.log((1 - constants.abusedPart * least) / (1 - least)));

test('evidence grows with each number without an approval, and falls by each with one', () => {
  const shares = sharesFor(days(28, 100, 80), [], constants);
  assert.ok(shares.least > 0.38 && shares.least < 0.4, 'half of the usual rate, in a new country');
  assert.equal(evidenceOf({ numbers: 0, approved: 0 }, shares), 0);
  assert.ok(evidenceOf({ numbers: 10, approved: 0 }, shares) > evidenceOf({ numbers: 9, approved: 0 }, shares));
  assert.ok(evidenceOf({ numbers: 10, approved: 4 }, shares) < 0, 'an honest launch');
  const known = sharesFor(days(28, 100, 80), days(28, 50, 40), constants);
  assert.ok(known.least > shares.least, 'more is expected of a country that is known');
  const bad = sharesFor(days(28, 100, 80), days(28, 50, 2), constants);
  assert.equal(bad.least, 0.1, 'a country that was always bad is compared with itself, down to a tenth');
});

test('some days of an attack do not become the usual rate', () => {
  const attacked = sharesFor([...days(15, 100, 80), ...days(13, 5000, 80)], [], constants);
  assert.equal(attacked.least, sharesFor(days(28, 100, 80), [], constants).least);
});

test('an outage brings no more numbers than usual', () => {
  assert.equal(isSurge(100, 100, constants), false);
  assert.equal(isSurge(190, 100, constants), false);
  assert.equal(isSurge(210, 100, constants), true);
  assert.equal(isSurge(3, 1, constants), false, 'by chance');
  assert.equal(isSurge(3, 0, constants), true);
});

const [narrow, otherNarrow, wide] = ['+44770090****', '+44770091****', '+447700******'];
interface Given extends Partial<JudgedApplication> {
  days?: Record<string, Counted[]>;
}
function application({ days: past = {}, ...given }: Given, counted: Record<string, Counted>): JudgedApplication {
  const hours = (now: Counted | undefined) => (now === undefined ? [] : [{ hourMs: thisHour, held: 0, ...now }]);
  const scopes = new Set([...Object.keys(counted), ...Object.keys(past), '']);
  const ofApplication = past[''] ?? days(28, 100, 80);
  const counts = new Map(
    [...scopes].map((scope) => [
      scope,
      { hours: hours(counted[scope]), days: scope === '' ? ofApplication : (past[scope] ?? []) },
    ]),
  );
  const groups = Object.keys(counted)
    .filter((scope) => scope !== '')
    .map((scope) => ({ scope, country: 'GB' }));
  return { nowMs, groups, holds: [], counts, mayAct: true, ...given };
}
const hold = (scope: string, more: Partial<PastHold> = {}): PastHold => ({
  ...{ id: 'hld_1', scope, country: 'GB', acts: true, beganAtMs: nowMs - hourMs, untilMs: nowMs + 3 * hourMs },
  ...{ endedAtMs: null, endedBy: null, ...more },
});
const scopes = (of: JudgedApplication) => judge(of).map(({ scope }) => scope);
const unapproved = (numbers: number) => ({ numbers, approved: 0 });

test('the smallest group is held, and the larger ones are judged without it', () => {
  const country = { numbers: 250, approved: 120 };
  assert.deepEqual(
    scopes(application({}, { GB: country, [wide]: { numbers: 60, approved: 5 }, [narrow]: unapproved(50) })),
    [narrow],
  );
  const spread = { [wide]: unapproved(80), [narrow]: unapproved(2) };
  assert.deepEqual(scopes(application({}, { GB: country, ...spread })), [wide]);
  assert.deepEqual(scopes(application({}, { GB: { numbers: 90, approved: 2 }, ...spread })), [wide]);
  assert.deepEqual(scopes(application({}, { GB: { numbers: 300, approved: 2 }, ...spread })), [wide, 'GB']);
});

test('a country with many users is not held, however much of it is abused; only its prefixes are', () => {
  const home = { days: { GB: days(28, 90, 72) } };
  const abuse = { GB: unapproved(900), [wide]: unapproved(400), [narrow]: unapproved(6) };
  assert.deepEqual(scopes(application(home, abuse)), [narrow, wide]);
  const foreign = { days: { GB: days(28, 1, 1) } };
  assert.deepEqual(scopes(application(foreign, abuse)), [narrow, wide, 'GB']);
  const drowned = { ...abuse, GB: unapproved(2000) };
  assert.deepEqual(scopes(application(home, drowned)), [narrow, wide, 'GB'], 'the last resort');
});

test('in an abused country a prefix needs less evidence; alone it needs more', () => {
  const home = { days: { GB: days(28, 90, 72) } };
  const { least } = sharesFor(days(28, 100, 80), days(28, 90, 72), constants);
  const [alone, inAbuse] = [constants.evidence, constants.evidenceInAbuse].map((each) => missesFor(each, least));
  assert.ok(alone && inAbuse && inAbuse < alone, `${inAbuse} ${alone}`);
  const quiet = { numbers: 60, approved: 48 };
  assert.deepEqual(scopes(application(home, { GB: quiet, [narrow]: unapproved(alone - 1) })), []);
  assert.deepEqual(scopes(application(home, { GB: quiet, [narrow]: unapproved(alone) })), [narrow]);
  assert.deepEqual(scopes(application(home, { GB: unapproved(400), [narrow]: unapproved(inAbuse) })), [narrow]);
});

test('an abusive client is held; not one that many users share, nor any while texts are lost', () => {
  const [address, other] = ['address:a', 'address:b'];
  const [all, quiet] = [
    { numbers: 140, approved: 64 },
    { numbers: 60, approved: 48 },
  ];
  assert.deepEqual(scopes(application({}, { '': all, [address]: unapproved(60), [other]: quiet })), [address]);
  const own = { numbers: 600, approved: 48 };
  assert.deepEqual(scopes(application({}, { '': own, [address]: own })), [], "the application's own server");
  const lost = { '': unapproved(150), [address]: unapproved(60) };
  assert.deepEqual(scopes(application({ days: { GB: days(28, 90, 72) } }, lost)), []);
});

test('a held group is not judged again; after the end of a hold, earlier numbers do not count', () => {
  const attack = { [narrow]: unapproved(50) };
  assert.deepEqual(scopes(application({ holds: [hold(narrow)] }, attack)), []);
  assert.deepEqual(scopes(application({ holds: [hold('GB')] }, attack)), []);
  assert.deepEqual(scopes(application({ holds: [hold(otherNarrow)] }, attack)), [narrow]);
  const past = { beganAtMs: nowMs - 7 * hourMs, untilMs: nowMs - hourMs };
  assert.deepEqual(scopes(application({ holds: [hold(narrow, past)] }, attack)), [narrow], 'the attack continues');
  for (const scope of [narrow, wide, 'GB']) {
    const clicked = hold(scope, { beganAtMs: nowMs - 7 * hourMs, endedAtMs: nowMs - 1, endedBy: 'per_1' });
    assert.deepEqual(scopes(application({ holds: [clicked] }, attack)), [], `a person has judged ${scope}`);
  }
});

test('a hold is renewed while more numbers than usual ask for codes', () => {
  const ending = hold(narrow, { untilMs: nowMs + hourMs / 2 });
  const wanted = (held: number) => {
    const given = application({ holds: [ending] }, { [narrow]: unapproved(0) });
    const counts = new Map(given.counts);
    counts.set(narrow, { hours: [{ hourMs: thisHour, numbers: 0, approved: 0, held }], days: [] });
    return renewals({ ...given, counts }).length;
  };
  assert.deepEqual([wanted(constants.renewing - 1), wanted(constants.renewing)], [0, 1]);
  const later = { ...application({ holds: [hold(narrow)] }, { [narrow]: unapproved(90) }) };
  assert.deepEqual(renewals(later), [], 'not before its last hour');
});

test('a report turns into a hold when the application may be held; the maximum is 200 prefixes', () => {
  const attack = { [narrow]: unapproved(50) };
  const report = hold(narrow, { acts: false });
  assert.deepEqual(scopes(application({ mayAct: false, holds: [report] }, attack)), []);
  const [verdict] = judge(application({ holds: [report] }, attack));
  assert.deepEqual([verdict?.acts, verdict?.replaces], [true, 'hld_1']);
  const many = Array.from({ length: 200 }, (_, index) => hold(`+4477${String(1000 + index)}****`));
  assert.deepEqual(scopes(application({ holds: many }, { ...attack, GB: unapproved(90) })), ['GB']);
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

test('sums are the distinct numbers by hour of their newest code, and equal a new count of all codes', () => {
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

test('a number that came through a client that is held leaves its prefix and country, and larger clients', () => {
  const clients = ['device:d', 'program:p', 'address:a'];
  const [given] = distinctNumbers(
    [{ applicationId: 'a', to: '+447700900123', startedAtMs: nowMs, approved: false, clients }],
    (to) => to,
    () => 'GB',
  );
  assert.ok(given, 'it is counted');
  const entered = sumChanges(undefined, given);
  const left = changesOfApart(given, 'program:p', given.scopes);
  const rest = addUp([...entered, ...left]).map(({ scope, numbers }) => [scope, numbers]);
  assert.deepEqual(rest, [
    ['device:d', 1],
    ['program:p', 1],
  ]);
  const [again] = distinctNumbers(
    [{ applicationId: 'a', to: '+447700900123', startedAtMs: nowMs + hourMs, approved: false, held: true }],
    (to) => to,
    () => 'GB',
  );
  assert.ok(again, 'it is counted');
  const moved = addUp([...entered, ...left, ...sumChanges({ ...given, apart: 'program:p' }, again)]);
  assert.deepEqual(
    moved.map(({ scope, numbers, held, hourMs: at }) => [scope, numbers, held, at - thisHour]),
    given.scopes.map((scope) => [scope, 1, 0, hourMs]),
    'it got a code within the day, and comes from elsewhere now',
  );
});

const keyOf = ({ applicationId, number }: KnownNumber) => `${applicationId} ${number}`;

/** Counts each number once, in its last hour. A number without a start for a day counts anew. */
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
