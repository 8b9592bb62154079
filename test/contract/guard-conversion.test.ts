// The guard by conversion (section 6 of the contract): what is held back, what passes, and who ends it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { writeBinds } from '../../src/delivery/carrier/bind-store.ts';
import { findCarrier } from '../../src/delivery/carrier/store.ts';
import { routedCountryOf } from '../../src/messages/numbers/phone-number.ts';
import { dayMs, hourMs, minuteMs, toTimestamp } from '../../src/platform/clock.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import type { AlertRecord } from '../../src/portal/operator/alert-api.ts';
import type { GuardHoldRecord, OwnGuardHoldRecord } from '../../src/portal/operator/guard-hold-api.ts';
import type { GuardRulesRecord } from '../../src/portal/operator/guard-rule-api.ts';
import { findHeld } from '../../src/verify/held-number.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { runChores } from '../support/chores.ts';
import { createTestClock } from '../support/clock.ts';
import { type Answer, asDeveloper, send, signUp, type TestDeveloper } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createOperator } from '../support/operator.ts';
import { type Caller, createProduction, type Production } from '../support/production.ts';
import { createSender, type Page, type Refusal, type Sender } from '../support/texts.ts';
import type { VerificationBody } from '../support/verify-caller.ts';

interface Explanation {
  decision: string;
  reason: string | null;
  rules: { rule: string; limit: unknown; seen: unknown }[];
  hold?: {
    id: string;
    country: string | null;
    prefix: string | null;
    sample: boolean;
    was_approved: boolean;
    numbers: number;
    approved: number;
  };
}

const middayMs = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2;
const metricsToken = 'metrics-token-0123456789abcdef0123';
const holdsPath = '/portal/v1/operator/guard-holds';
const rulesPath = '/portal/v1/operator/guard-rules';
const delivered = { sent: 2, delivered: 3, failed: 5 } as const;
const prefixes = Array.from({ length: 60 }, (_, place) => `+447400${20 + place}`);
let used = 0;
/** Numbers of one prefix, each a new one. */
const numbersOf = (prefix: string, count: number) =>
  Array.from({ length: count }, () => `${prefix}${String(used++).padStart(4, '0')}`);
const newPrefix = () => prefixes.shift() ?? assert.fail('more prefixes are needed');

/** What a caller does, on any node, whatever the time. */
function verifier(node: TestApp, caller: Sender) {
  const call = async <Body>(path: string, body: object): Promise<Answer<Body>> => {
    const headers = bearer(await getToken(node, caller.client, 'verify:manage'));
    return send<Body>(node, 'POST', path, { body, headers });
  };
  return {
    async startAll(numbers: string[], given: (place: number) => object = () => ({})): Promise<VerificationBody[]> {
      const headers = bearer(await getToken(node, caller.client, 'verify:manage'));
      const start = async (to: string, place: number) => {
        const path = '/verify/v1/verifications';
        const { status, body } = await send<VerificationBody>(node, 'POST', path, {
          body: { to, channel: 'sms', ...given(place) },
          headers,
        });
        assert.equal(status, 200, JSON.stringify(body));
        return body;
      };
      return Promise.all(numbers.map(start));
    },
    start: (to: string, given: object) =>
      call<VerificationBody & Refusal>('/verify/v1/verifications', { to, channel: 'sms', ...given }),
    explain: async (to: string) => (await call<Explanation>('/verify/v1/guard/explain', { to })).body,
  };
}

/** Writes the carrier's receipt for each text that waits, as its worker does. */
async function settleTexts(app: TestApp, as: keyof typeof delivered = 'delivered'): Promise<void> {
  await app.db.database.query(
    'update message set status = $1::smallint, sent_at = case when $1::smallint <> 5 then $2::timestamptz end where status = 1',
    [delivered[as], toTimestamp(app.clock.nowMs())],
  );
  await app.db.database.query('delete from delivery_queue');
}

async function approve(app: TestApp, verifications: VerificationBody[]): Promise<void> {
  await app.db.database.query(
    'update verification set status = 1, approved_at = created_at where id = any($1::uuid[])',
    [verifications.map(({ id }) => uuidOf(id))],
  );
}

/** A worker has its connection, for as long as the tests last. */
async function carrierWorks({ db: { database }, clock }: TestApp): Promise<void> {
  const { id } = (await findCarrier(database, 'acme')) ?? assert.fail('the carrier is there');
  const bind = { slot: 0, state: 'bound', mode: 'transceiver', host: null, error: null, nextTryAtMs: null } as const;
  const binds = [{ ...bind, sinceMs: clock.nowMs() }];
  await writeBinds(database, { carrierId: id, node: 'nod_a', binds }, clock.nowMs() + 30 * dayMs);
}

/** The one chore that counts; all of them would take much longer. */
const countOver = (app: TestApp) => runChores(app, 'code-outcomes');

/** Time passes until the codes are over, and they are counted. */
async function countCodes(app: TestApp, as: keyof typeof delivered = 'delivered'): Promise<void> {
  await settleTexts(app, as);
  app.clock.advance(11 * minuteMs);
  await countOver(app);
}

/** An application that has been counted for a month, with a share of 80 %, in one country or in some. */
async function giveHistory(app: TestApp, { id }: Sender, sinceDays = 30, scopes = ['']): Promise<void> {
  const nowMs = app.clock.nowMs();
  const since = toTimestamp(nowMs - sinceDays * dayMs);
  await app.db.database.query('insert into conversion_application values ($1, $2, $2)', [uuidOf(id), since]);
  await app.db.database.query(
    `insert into conversion_sum (application_id, scope, by_day, at, numbers, approved)
     select $1, scope, true, date_bin('1 day', $2::timestamptz, '2000-01-01Z') - n * interval '1 day', 100, 80
     from generate_series(2, 20) n cross join unnest($3::text[]) as s(scope)`,
    [uuidOf(id), toTimestamp(nowMs), scopes],
  );
}

const reasonsOf = (verifications: VerificationBody[]) => [...new Set(verifications.map(({ reason }) => reason))];

describe('in production', () => {
  let production: Production;
  let app: TestApp;
  let other: TestApp;
  before(async () => {
    const env = {
      HELIOGRAPH_ENV: 'production',
      HELIOGRAPH_SENDERS: 'open',
      HELIOGRAPH_METRICS_TOKEN: metricsToken,
      HELIOGRAPH_GUARD: '{"per_prefix": 10000, "number_types": ["MOBILE", "UNKNOWN"]}',
    };
    // Blocked starts are counted by day: midnight is far away.
    production = await createProduction({ env, clock: createTestClock(middayMs) });
    ({ app } = production);
    await app.app.alerts.stop();
    other = await createTestApp({ env, delivery: 'held', db: app.db, clock: app.clock });
    await other.app.alerts.stop();
    for (let count = 0; count < 17; count++) callers.push(await production.createCaller({ apis: ['verify'] }));
    await carrierWorks(app);
    for (const node of [app, other])
      await eventually('the carrier to be up', () => node.app.carriers()[0]?.state === 'up');
  });
  after(async () => {
    await other.close();
    await app.close();
  });

  let operators = 0;
  /** A session of now. */
  const operator = () => createOperator(app, `operator-${++operators}@example.com`);
  /** Made before time passes: sessions end. */
  const callers: Caller[] = [];
  const newCaller = () => callers.pop() ?? assert.fail('more callers are needed');
  async function signIn({ developer: { email, password } }: Caller): Promise<TestDeveloper> {
    const answer = await send(app, 'POST', '/portal/v1/sessions', { body: { email, password } });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return asDeveloper(app, email, password, answer);
  }
  async function listHolds(caller: Caller, state = 'open'): Promise<GuardHoldRecord[]> {
    const { status, body } = await (await operator()).send<Page<GuardHoldRecord>>('GET', `${holdsPath}?state=${state}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data.filter(({ application_id }) => application_id === caller.id);
  }
  /** 40 numbers of a prefix get codes, and none types it in. */
  async function pump(
    caller: Caller,
    prefix: string,
    as: keyof typeof delivered = 'delivered',
    given: (place: number) => object = () => ({}),
  ): Promise<VerificationBody[]> {
    const started = await verifier(app, caller).startAll(numbersOf(prefix, 40), given);
    assert.deepEqual(reasonsOf(started), [null]);
    await countCodes(app, as);
    return started;
  }

  /** Which numbers are among the one in fifty that pass the hold of a prefix: its random id decides. */
  const isSampleOf = (hold: Awaited<ReturnType<typeof listHolds>>[number]) => {
    const held = {
      ...hold,
      scope: `${hold.prefix}****`,
      beganAtMs: 0,
      untilMs: Date.parse(hold.ends_at),
      leastShare: 0.1,
    };
    return (to: string) => findHeld(app.keys, [held], { to, clients: [] }, app.clock.nowMs())?.isSample === true;
  };

  test('a prefix whose numbers do not type their codes in is held back on every node; one in fifty passes', async () => {
    const acme = newCaller();
    await giveHistory(app, acme);
    const prefix = newPrefix();
    const people = await verifier(app, acme).startAll(numbersOf(newPrefix(), 40));
    await approve(app, people);
    await pump(acme, prefix);
    const [hold, ...more] = await listHolds(acme);
    assert.ok(hold, 'the prefix is held');
    assert.deepEqual(more, []);
    assert.deepEqual(
      [hold.prefix, hold.country, hold.acts, hold.numbers, hold.approved, hold.ended_at, hold.blocked],
      [prefix, 'GB', true, 40, 0, null, 0],
    );
    assert.equal(Date.parse(hold.ends_at) - Date.parse(hold.began_at), 6 * hourMs);
    await assertSums(acme);

    const passes = isSampleOf(hold);
    const numbers = numbersOf(prefix, 40);
    for (const node of [app, other]) {
      const half = node === app ? numbers.slice(0, 20) : numbers.slice(20);
      for (const { to, status, reason, sends, delivery } of await verifier(node, acme).startAll(half)) {
        const expected = passes(to) ? ['pending', null, 1] : ['blocked', 'suspected_pumping', 0];
        assert.deepEqual([status, reason, sends], expected, to);
        assert.equal(delivery === null, expected[0] === 'blocked');
      }
    }
    const [sample, blocked] = [numbers.find(passes), numbers.find((to) => !passes(to))];
    assert.ok(blocked, 'most are blocked');
    for (let again = 0; again < 3; again++) {
      assert.deepEqual(reasonsOf(await verifier(other, acme).startAll([blocked])), ['suspected_pumping']);
    }

    const explained = await verifier(other, acme).explain(blocked);
    assert.deepEqual([explained.decision, explained.reason], ['block', 'suspected_pumping']);
    assert.deepEqual(explained.rules.at(-1), { rule: 'suspected_pumping', limit: hold.least_share, seen: 0 });
    const { id, country, prefix: begins, sample: isSample } = explained.hold ?? assert.fail('it names the hold');
    assert.deepEqual([id, country, begins, isSample], [hold.id, null, prefix, false]);
    if (sample !== undefined) {
      const allowed = await verifier(other, acme).explain(sample);
      assert.deepEqual([allowed.decision, allowed.hold?.sample], ['allow', true]);
    }
    const [free = ''] = numbersOf(newPrefix(), 1);
    const unheld = await verifier(other, acme).explain(free);
    assert.deepEqual([unheld.decision, unheld.hold], ['allow', undefined]);
    assert.deepEqual(unheld.rules.at(-1), { rule: 'suspected_pumping', limit: null, seen: null });

    await countCodes(app);
    const blockedStarts = numbers.filter((to) => !passes(to)).length + 3;
    assert.equal((await listHolds(acme))[0]?.blocked, blockedStarts);
    const { body: rules } = await (await operator()).send<GuardRulesRecord>('GET', rulesPath);
    const rule = 'suspected_pumping';
    const [pumping] = rules.data.filter((each) => each.rule === rule);
    assert.deepEqual(pumping, {
      ...{ rule, limit: null, active: true },
      ...{ blocked_today: blockedStarts, blocked_7_days: blockedStarts, blocked_30_days: blockedStarts },
    });
    assert.deepEqual(rules.data.find((each) => each.rule === 'prefix_velocity')?.limit, 10_000);
    assert.deepEqual(
      rules.applications.map(({ application_id, rule, blocked }) => ({ application_id, rule, blocked })),
      [{ application_id: acme.id, rule, blocked: blockedStarts }],
    );
    await countOver(app);
    const { body: again } = await (await operator()).send<GuardRulesRecord>('GET', rulesPath);
    assert.deepEqual(again, rules, 'each start counts once');
    const own = `/portal/v1/applications/${acme.id}/guard-holds`;
    const shown = await acme.developer.send<Page<GuardHoldRecord>>('GET', own);
    assert.deepEqual(
      shown.body.data.map((each) => [each.id, 'ended_by' in each]),
      [[hold.id, false]],
    );
    const stranger = await signUp(app);
    assert.equal((await stranger.send('GET', own)).status, 404);
    for (const path of [holdsPath, rulesPath]) assert.equal((await stranger.send('GET', path)).status, 404);
    assert.equal((await stranger.send('POST', `${holdsPath}/${hold.id}/end`)).status, 404);
  });

  test('an operator ends it: true on every node when it is answered, and only later codes count', async () => {
    const acme = newCaller();
    await giveHistory(app, acme);
    const prefix = newPrefix();
    await pump(acme, prefix);
    const [hold] = await listHolds(acme);
    assert.ok(hold, 'the prefix is held');
    // Each node knows of it.
    for (const node of [app, other]) {
      const reasons = reasonsOf(await verifier(node, acme).startAll(numbersOf(prefix, 12)));
      assert.ok(reasons.includes('suspected_pumping'), reasons.join());
    }
    const end = async (id: string) =>
      (await operator()).send<GuardHoldRecord & Refusal>('POST', `${holdsPath}/${id}/end`);
    const ended = await end(hold.id);
    for (const node of [other, app]) {
      assert.deepEqual(reasonsOf(await verifier(node, acme).startAll(numbersOf(prefix, 12))), [null]);
    }
    assert.equal(ended.status, 200, JSON.stringify(ended.body));
    assert.deepEqual([ended.body.id, ended.body.ended_at], [hold.id, toTimestamp(app.clock.nowMs())]);
    assert.match(ended.body.ended_by ?? '', /^per_/);
    const again = await end(hold.id);
    assert.deepEqual([again.status, again.body.code], [409, 'INCOMPATIBLE_STATE']);
    for (const id of ['hld_01jcq5v0n8g3x7k2m9p4r6t1wz', 'nothing', '%00'])
      assert.equal((await end(id)).status, 404, id);
    assert.deepEqual(await listHolds(acme), []);
    assert.deepEqual(
      (await listHolds(acme, 'ended')).map(({ id }) => id),
      [hold.id],
    );

    // The numbers of the same hour were before the operator, or came at the same time.
    await countCodes(app);
    assert.deepEqual(await listHolds(acme), []);
    app.clock.advance(hourMs);
    await pump(acme, prefix);
    assert.equal((await listHolds(acme)).length, 1, 'later codes are judged anew');
  });

  test('codes that the caller made count only while it says what becomes of them', async () => {
    const acme = newCaller();
    await giveHistory(app, acme);
    const code = (place: number) => ({ code: String(700_100 + place) });
    const silent = newPrefix();
    const [first] = await pump(acme, silent, 'delivered', code);
    assert.deepEqual(await listHolds(acme), [], 'the application reports nothing');
    const headers = bearer(await getToken(app, acme.client, 'verify:manage'));
    const path = `/verify/v1/verifications/${first?.id}/outcome`;
    const { status } = await send(app, 'PUT', path, { body: { outcome: 'approved' }, headers });
    assert.equal(status, 200, 'late: the code has expired and is counted');
    await countOver(app);
    const { rows } = await app.db.database.query<{ numbers: number; approved: number }>(
      `select sum(numbers)::integer as numbers, sum(approved)::integer as approved from conversion_sum
       where application_id = $1 and scope = 'GB' and not by_day`,
      [uuidOf(acme.id)],
    );
    assert.deepEqual(rows, [{ numbers: 1, approved: 1 }], 'the late outcome counts');
    const noted = newPrefix();
    await pump(acme, noted, 'delivered', code);
    assert.deepEqual(
      (await listHolds(acme)).map(({ prefix }) => prefix),
      [noted],
    );
    app.clock.advance(8 * dayMs);
    await pump(acme, newPrefix(), 'delivered', code);
    assert.deepEqual(await listHolds(acme), [], 'it has reported nothing for 7 days');
  });

  test('it ends by itself after 6 hours, on nodes that hear of nothing', async () => {
    const acme = newCaller();
    await giveHistory(app, acme);
    const prefix = newPrefix();
    await pump(acme, prefix);
    const [hold] = await listHolds(acme);
    assert.ok(hold, 'the prefix is held');
    app.clock.advance(6 * hourMs - minuteMs);
    assert.ok(
      reasonsOf(await verifier(other, acme).startAll(numbersOf(prefix, 12))).includes('suspected_pumping'),
      'before',
    );
    app.clock.advance(minuteMs);
    assert.deepEqual(reasonsOf(await verifier(other, acme).startAll(numbersOf(prefix, 12))), [null]);
    assert.deepEqual(await listHolds(acme), []);
    const [over] = await listHolds(acme, 'ended');
    assert.deepEqual([over?.id, over?.ended_at, over?.ended_by], [hold.id, hold.ends_at, null]);
    await app.delivery.maintenance.runAll();
    assert.deepEqual(await listHolds(acme, 'ended'), [over], 'the row says the same');
  });

  test('numbers of many prefixes hold back a whole country, and no other', async () => {
    const acme = newCaller();
    await giveHistory(app, acme);
    const numbers = Array.from({ length: 40 }, (_, place) => `+9477${String(1_000_000 + place * 204_081).slice(0, 7)}`);
    await verifier(app, acme).startAll(numbers);
    await countCodes(app);
    const holds = await listHolds(acme);
    assert.deepEqual(
      holds.map(({ country, prefix }) => [country, prefix]),
      [['LK', null]],
    );
    const more = Array.from({ length: 12 }, (_, place) => `+9476${String(1_000_000 + place * 204_081).slice(0, 7)}`);
    assert.ok(
      reasonsOf(await verifier(other, acme).startAll(more)).includes('suspected_pumping'),
      'all of the country',
    );
    assert.equal(routedCountryOf(numbers[0] ?? ''), 'LK');
    assert.deepEqual(reasonsOf(await verifier(other, acme).startAll(numbersOf(newPrefix(), 12))), [null]);
    const explained = await verifier(app, acme).explain(more[0] ?? '');
    assert.deepEqual([explained.hold?.country, explained.hold?.prefix], ['LK', null]);
  });

  /** One number each of many prefixes of the country. */
  const strewn = (count: number) =>
    Array.from({ length: count }, () => {
      used += 7;
      return `+4474${String(10_000 + ((used * 7919) % 90_000))}${String(used).padStart(3, '0').slice(-3)}`;
    });

  test('a stranger cannot shut a country out by unconfirmed starts: its prefixes are held, and other users pass', async () => {
    const acme = newCaller();
    await giveHistory(app, acme, 30, ['', 'GB']);
    const [first, second] = [newPrefix(), newPrefix()];
    const abuse = [...strewn(120), ...numbersOf(first, 20), ...numbersOf(second, 20)];
    assert.deepEqual(reasonsOf(await verifier(app, acme).startAll(abuse)), [null]);
    await countCodes(app);
    const held = (await listHolds(acme)).map(({ group, prefix, country }) => `${group} ${prefix} ${country}`);
    assert.deepEqual(new Set(held), new Set([`prefix ${first} GB`, `prefix ${second} GB`]));
    assert.deepEqual(reasonsOf(await verifier(other, acme).startAll(numbersOf(newPrefix(), 12))), [null]);
  });

  test('a number that the application approved in the last 28 days passes a hold; per_number stays', async () => {
    const [acme, stranger] = [newCaller(), newCaller()];
    const prefix = newPrefix();
    const [known = '', foreign = '', old = ''] = numbersOf(prefix, 3);
    const approveAll = async (caller: Caller, to: string) => {
      const [started] = await verifier(app, caller).startAll([to]);
      await approve(app, [started ?? assert.fail('it started')]);
      await app.db.database.query(
        `with gone as (delete from pending_verification where recipient = $1 returning *)
         insert into ended_verification (verification_id, application_id, status, recipient)
         select verification_id, application_id, 1, recipient from gone`,
        [to],
      );
    };
    await approveAll(acme, old);
    app.clock.advance(28 * dayMs);
    await carrierWorks(app);
    await giveHistory(app, acme);
    await approveAll(acme, known);
    await approveAll(stranger, foreign);
    await pump(acme, prefix);
    const [hold, ...more] = await listHolds(acme);
    assert.ok(hold && more.length === 0, 'the prefix is held');
    const isSample = isSampleOf(hold);
    const [again, notOurs, tooOld] = await verifier(other, acme).startAll([known, foreign, old]);
    assert.deepEqual([again?.status, again?.reason], ['pending', null]);
    assert.equal(notOurs?.reason, isSample(foreign) ? null : 'suspected_pumping');
    assert.equal(tooOld?.reason, isSample(old) ? null : 'suspected_pumping');
    const explained = await verifier(other, acme).explain(known);
    assert.deepEqual([explained.decision, explained.hold?.was_approved], ['allow', true]);
    assert.equal((await verifier(other, acme).explain(foreign)).hold?.was_approved, false);
    for (let count = 0; count < 10; count++) await approveAll(acme, known);
    const [often] = await verifier(other, acme).startAll([known]);
    assert.deepEqual([often?.status, often?.reason], ['blocked', 'destination_limit']);
  });

  test('members end one hold a day, exactly one of two at once; another account ends none', async () => {
    const acme = newCaller();
    await giveHistory(app, acme);
    for (const prefix of [newPrefix(), newPrefix(), newPrefix()]) await pump(acme, prefix);
    // Sessions end while time passes.
    const developer = await signIn(acme);
    const path = `/portal/v1/applications/${acme.id}/guard-holds`;
    const list = async () => (await developer.send<Page<OwnGuardHoldRecord>>('GET', path)).body.data;
    const [third, second, first] = await list();
    assert.ok(first && second && third, 'three are held');
    assert.deepEqual(
      [first.group, first.numbers, first.approved, first.may_end_at],
      ['prefix', 40, 0, toTimestamp(app.clock.nowMs())],
    );
    assert.ok(!('ended_by' in first), 'no operator is named');
    const stranger = await signUp(app);
    const end = (by: TestDeveloper, { id }: { id: string }) =>
      by.send<OwnGuardHoldRecord & Refusal>('POST', `${path}/${id}/end`);
    assert.equal((await end(stranger, first)).status, 404);
    const foreign = newCaller();
    const wrongPlace = `/portal/v1/applications/${foreign.id}/guard-holds/${first.id}/end`;
    const foreigner = await signIn(foreign);
    assert.equal((await foreigner.send('POST', wrongPlace)).status, 404, 'a hold of another application');
    for (const id of ['hld_01jcq5v0n8g3x7k2m9p4r6t1wz', 'nothing', '%00'])
      assert.equal((await end(developer, { id })).status, 404, id);
    const answers = await Promise.all([end(developer, first), end(developer, second)]);
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409],
    );
    const [refused] = answers.filter(({ status }) => status === 409);
    assert.match(refused?.body.message ?? '', /ended already in the last 24 hours/);
    const [ended] = answers.filter(({ status }) => status === 200);
    assert.deepEqual([ended?.body.ended_by_member, ended?.body.may_end_at], [true, null]);
    const prefix = ended?.body.prefix ?? '';
    for (const node of [other, app])
      assert.deepEqual(reasonsOf(await verifier(node, acme).startAll(numbersOf(prefix, 6))), [null], 'on every node');
    const next = toTimestamp(app.clock.nowMs() + dayMs);
    assert.deepEqual(
      (await list()).map(({ may_end_at }) => may_end_at),
      [next, next],
    );
    assert.equal((await end(developer, { id: ended?.body.id ?? '' })).status, 409, 'it is over');
    const { body } = await (await operator()).send<Page<GuardHoldRecord>>('GET', `${holdsPath}?state=ended`);
    const shown = body.data.find(({ id }) => id === ended?.body.id);
    assert.deepEqual([shown?.ended_by_member, /^per_/.test(shown?.ended_by ?? '')], [true, true]);
  });

  const at = (ip: string, device_id?: string) => ({ client: { ip, user_agent: 'Mozilla/5.0 (probe)', device_id } });
  const [abuser, honest] = ['198.51.100.77', '203.0.113.5'];

  test('where the application passes client, the abuser is held and not the prefix, in this application alone', async () => {
    const [acme, neighbour] = [newCaller(), newCaller()];
    for (const caller of [acme, neighbour]) await giveHistory(app, caller, 30, ['', 'GB']);
    const prefix = newPrefix();
    const people = await verifier(app, acme).startAll(numbersOf(prefix, 20), (place) => at(`10.0.0.${place}`));
    await approve(app, people);
    await verifier(app, acme).startAll(numbersOf(prefix, 40), () => at(abuser));
    await countCodes(app);
    const [hold, ...more] = await listHolds(acme);
    assert.deepEqual([hold?.group, hold?.prefix, hold?.country, more], ['program', null, null, []]);
    assert.deepEqual(reasonsOf(await verifier(other, acme).startAll(numbersOf(prefix, 8), () => at(honest))), [null]);
    assert.deepEqual(reasonsOf(await verifier(other, acme).startAll(numbersOf(prefix, 8))), [null]);
    const held = reasonsOf(await verifier(other, acme).startAll(numbersOf(newPrefix(), 12), () => at(abuser)));
    assert.ok(held.includes('suspected_pumping'), 'wherever its numbers are');
    assert.deepEqual(reasonsOf(await verifier(other, neighbour).startAll(numbersOf(prefix, 8), () => at(abuser))), [
      null,
    ]);
    // It changes its name: then the address is held, too.
    const names = (place: number) => ({ client: { ip: abuser, user_agent: `probe/${place}` } });
    await verifier(app, acme).startAll(numbersOf(newPrefix(), 40), names);
    await countCodes(app);
    const groups = (await listHolds(acme)).map(({ group }) => group);
    assert.ok(groups.includes('address') && !groups.includes('prefix'), groups.join());
    const shown = JSON.stringify(await listHolds(acme));
    assert.ok(!/[0-9a-f]{16}/.test(shown), 'no hash is shown');
    // An hour before it ends, it is renewed if the abuser still asks.
    app.clock.advance(5 * hourMs + 30 * minuteMs);
    await verifier(app, acme).startAll(numbersOf(prefix, 10), () => at(abuser));
    await countCodes(app);
    const renewed = (await listHolds(acme)).find(({ group }) => group === 'program');
    assert.ok(renewed && renewed.ends_at > (hold?.ends_at ?? ''), 'it lasts longer');
  });

  test('client is checked, kept as keyed hashes only, and gone after a day', async () => {
    const acme = newCaller();
    await giveHistory(app, acme);
    const long = 'x'.repeat(513);
    for (const [client, field] of [
      [{ ip: long }, 'client.ip'],
      [{ user_agent: long }, 'client.user_agent'],
      [{ device_id: long }, 'client.device_id'],
      [{ ip: 7 }, 'client.ip'],
      ['here', 'client'],
    ] as const) {
      const { status, body } = await verifier(app, acme).start('+447400201234', { client });
      assert.deepEqual([status, body.details?.map((detail) => detail.field)], [400, [field]], JSON.stringify(body));
    }
    for (const client of [null, {}, { ip: null, user_agent: '', device_id: 'x'.repeat(512) }]) {
      const [to = ''] = numbersOf(newPrefix(), 1);
      assert.equal((await verifier(app, acme).start(to, { client })).status, 200);
    }
    const prefix = newPrefix();
    const secret = { ip: '2001:db8:51ce:77::1', user_agent: 'Probe of a person', device_id: 'device-of-a-person' };
    await verifier(app, acme).startAll(numbersOf(prefix, 40), () => ({ client: secret }));
    assert.deepEqual(await tablesWith(Object.values(secret)), []);
    assert.ok((await tablesWith(['address:'])).includes('start_client'), 'the hashes are there');
    await countCodes(app);
    assert.ok(
      (await listHolds(acme)).some(({ group }) => group === 'device'),
      'the smallest client is held',
    );
    assert.deepEqual(await tablesWith(Object.values(secret)), []);
    assert.ok(
      app.logLines.every((line) => Object.values(secret).every((value) => !line.includes(value))),
      'no log line has it',
    );
    app.clock.advance(dayMs - 11 * minuteMs);
    await app.delivery.maintenance.runAll();
    assert.deepEqual(await tablesWith(['address:', 'program:', 'device:']), []);
  });

  /** The tables with a row that contains one of these. */
  async function tablesWith(values: string[]): Promise<string[]> {
    const { database } = app.db;
    const { rows } = await database.query<{ name: string }>(
      `select relname::text as name from pg_class
       where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1`,
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const any = values.map((_, place) => `strpos(t::text, $${place + 1}) > 0`).join(' or ');
      const { rows: hits } = await database.query(`select 1 from ${name} t where ${any} limit 1`, values);
      if (hits.length > 0) found.push(name);
    }
    return found;
  }

  test('texts that failed do not count, nor those without a receipt of a carrier in trouble', async () => {
    const acme = newCaller();
    await giveHistory(app, acme);
    await pump(acme, newPrefix(), 'failed');
    assert.deepEqual(await listHolds(acme), []);
    const alert = [
      'alr_1',
      'receipts_missing acme GB',
      'receipts_missing',
      'acme',
      'GB',
      toTimestamp(app.clock.nowMs()),
    ];
    await app.db.database.query(
      `insert into alert (id, key, kind, carrier, country, summary, advice, since, seen_at, raised_at)
       values ($1, $2, $3, $4, $5, '', '', $6, $6, $6)`,
      alert,
    );
    await pump(acme, newPrefix(), 'sent');
    assert.deepEqual(await listHolds(acme), []);
    await app.db.database.query('delete from alert');
    await pump(acme, newPrefix(), 'sent');
    assert.equal((await listHolds(acme)).length, 1, 'a carrier that is well');
  });

  test('the first 7 days, and an application without any approval: an alert and a report, but nothing is held back', async () => {
    const young = newCaller();
    await giveHistory(app, young, 6);
    const unapproved = newCaller();
    await app.db.database.query('insert into conversion_application values ($1, $2)', [
      uuidOf(unapproved.id),
      toTimestamp(app.clock.nowMs() - 30 * dayMs),
    ]);
    for (const caller of [young, unapproved]) {
      const prefix = newPrefix();
      await pump(caller, prefix);
      const [report] = await listHolds(caller);
      assert.ok(report, 'it is reported');
      assert.deepEqual([report.acts, report.prefix], [false, prefix]);
      assert.deepEqual(reasonsOf(await verifier(other, caller).startAll(numbersOf(prefix, 12))), [null]);
      assert.equal((await verifier(other, caller).explain(`${prefix}1234`)).decision, 'allow');
      assert.ok(await app.app.alerts.poll(), 'no other node polls');
      const { body } = await (await operator()).send<Page<AlertRecord>>('GET', '/portal/v1/operator/alerts');
      const alert = body.data.find(
        ({ kind, application_id }) => kind === 'suspected_pumping' && application_id === caller.id,
      );
      assert.match(
        alert?.summary ?? '',
        /^Of 40 numbers .* The guard only reports this: it holds no verification back\.$/,
      );
      const { body: metrics } = await metricsOf(app);
      assert.match(metrics, /heliograph_guard_holds\{country="GB",acts="false"\} [1-9]/);
    }
    // A day later the first one is old enough: the report becomes a hold.
    app.clock.advance(dayMs);
    await pump(young, newPrefix());
    assert.deepEqual(
      (await listHolds(young)).map(({ acts }) => acts),
      [true],
    );
  });

  test('old counts become days; numbers, small prefixes and old holds go', async () => {
    const acme = newCaller();
    await giveHistory(app, acme);
    const prefix = newPrefix();
    await pump(acme, prefix);
    await verifier(app, acme).startAll(['+491512345678', '+491512345679']);
    await countCodes(app);
    app.clock.advance(28 * hourMs);
    await app.delivery.maintenance.runAll();
    const { rows: numbers } = await app.db.database.query('select 1 from conversion_number limit 1');
    assert.deepEqual(numbers, []);
    const daysOf = async () => {
      const { rows } = await app.db.database.query<{ scope: string }>(
        `select scope from conversion_sum where application_id = $1 and by_day and scope <> '' group by 1 order by 1`,
        [uuidOf(acme.id)],
      );
      return rows.map(({ scope }) => scope);
    };
    const all = [`${prefix}****`, `${prefix.slice(0, 7)}******`, '+491512******', '+49151234****', 'DE', 'GB'];
    assert.deepEqual(await daysOf(), all.toSorted());
    app.clock.advance(3 * dayMs);
    await app.delivery.maintenance.runAll();
    assert.deepEqual(
      await daysOf(),
      all.filter((scope) => !scope.startsWith('+49')).toSorted((one, other) => (one < other ? -1 : 1)),
      'small prefixes are gone',
    );
    assert.equal((await listHolds(acme, 'ended')).length, 1);
    app.clock.advance(31 * dayMs);
    await app.delivery.maintenance.runAll();
    const { rows } = await app.db.database.query('select 1 from conversion_sum union all select 1 from guard_hold');
    assert.deepEqual(rows, []);
  });

  /** The sums of an application agree with its verifications, number by number. */
  async function assertSums({ id }: Caller): Promise<void> {
    const { database } = app.db;
    const { rows: sums } = await database.query<{ scope: string; numbers: number; approved: number }>(
      `select scope, sum(numbers)::integer as numbers, sum(approved)::integer as approved from conversion_sum
       where application_id = $1 and not by_day group by scope order by scope`,
      [uuidOf(id)],
    );
    const { rows: counted } = await database.query<{ scope: string; numbers: number; approved: number }>(
      `select scope, count(distinct recipient)::integer as numbers,
         count(distinct recipient) filter (where status = 1)::integer as approved
       from verification cross join lateral unnest(array['', 'GB', left(recipient, -4) || '****',
         left(recipient, -6) || '******']) as s(scope)
       where application_id = $1 and status <> 5 group by scope order by scope collate "C"`,
      [uuidOf(id)],
    );
    assert.deepEqual(sums, counted);
  }
});

async function metricsOf(app: TestApp): Promise<{ body: string }> {
  return { body: await (await fetch(`${app.url}/metrics`, { headers: bearer(metricsToken) })).text() };
}

test('in the sandbox nothing is counted, and no hold acts', async () => {
  const app = await createTestApp({ delivery: 'held' });
  try {
    const acme = await createSender(app, { apis: ['verify'] });
    const prefix = newPrefix();
    await app.db.database.query(
      `insert into guard_hold (id, application_id, scope, country, acts, numbers, approved, least_share, began_at, until)
       values ('hld_1', $1, 'GB', 'GB', true, 40, 0, 0.2, $2, $3)`,
      [acme.id, toTimestamp(app.clock.nowMs()), toTimestamp(app.clock.nowMs() + hourMs)],
    );
    const started = await verifier(app, acme).startAll(numbersOf(prefix, 12));
    assert.deepEqual(reasonsOf(started), [null]);
    assert.equal((await verifier(app, acme).explain(`${prefix}1234`)).decision, 'allow');
    await countCodes(app);
    const { rows } = await app.db.database.query('select 1 from conversion_number limit 1');
    assert.deepEqual(rows, []);
  } finally {
    await app.close();
  }
});
