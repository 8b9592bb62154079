import assert from 'node:assert/strict';
import { addListener } from '../../../src/events/listener-store.ts';
import { statusCode as textStatusCode } from '../../../src/messages/message-row.ts';
import { cancelTexts } from '../../../src/messages/message-store.ts';
import { minuteMs } from '../../../src/platform/clock.ts';
import type { KeyRing } from '../../../src/platform/crypto/keys.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { violates } from '../../../src/platform/database/errors.ts';
import { newId, uuidOf } from '../../../src/platform/ids.ts';
import { decideChecks, spendTries } from '../../../src/verify/check-store.ts';
import { createGuard } from '../../../src/verify/guard.ts';
import type { StartItem } from '../../../src/verify/start/item.ts';
import { prepareText } from '../../../src/verify/texts/prepared-text.ts';
import { statusOf } from '../../../src/verify/verification-row.ts';
import { cancelPending, expireLapsed } from '../../../src/verify/verification-store.ts';
import { createTestClock } from '../../support/clock.ts';
import { lifeTicks, resendTicks, type State } from './state.ts';
import { beginStart, type SteppedStart } from './stepped-start.ts';

const tickMs = minuteMs;
let numbers = 7_700_000_000;

/** The real stores and a number of its own, on which a run of the model is made. */
export async function createRealNumber(database: Database, keys: KeyRing, first: State) {
  const clock = createTestClock();
  const startMs = clock.nowMs();
  const applicationId = newId('app', clock);
  const to = `+4${numbers++}`;
  await addListener(database, applicationId);
  if (first.failuresBefore > 0)
    await database.query(
      'insert into recent_failure (verification_id, application_id, attempts, recipient) values ($1, $2, $3, $4)',
      [uuidOf(newId('ver', clock)), uuidOf(applicationId), first.failuresBefore, to],
    );
  const options = {
    // Its other clock decides when a batch is too old; here no caller waits.
    clock: { ...clock, steadyMs: () => 0 },
    keys,
    guard: createGuard(first.countsStarts ? { per_number: 1000, per_prefix: 1000 } : {}, 'sandbox'),
    environment: 'sandbox' as const,
    resendSeconds: (resendTicks * tickMs) / 1000,
    routeText: () => ({ carrier: 'sandbox', sentAs: null, deferredUntilMs: null, routing: undefined }),
    hasChoice: () => false,
  };
  const items = first.starts.map(
    ({ length, code }): StartItem => ({ request: requestOf(length, code), key: undefined, keep: () => undefined }),
  );
  const starts = new Map<number, SteppedStart>();
  const ids: string[] = [];

  function requestOf(codeLength: number, code: number): StartItem['request'] {
    return {
      ...{
        applicationId,
        to,
        channel: 'sms',
        mayUseChannel: true,
        reference: null,
        codeLength,
        ttlSeconds: (lifeTicks * tickMs) / 1000,
      },
      text: prepareText({ app: 'ACME', locale: null, minutes: lifeTicks, codeLength, autofill: null }),
      payment: null,
      profile: null,
      app: 'ACME',
      code: code === 0 ? undefined : String(code).padStart(codeLength, '0'),
      sender: { from: 'ACME', holdsSender: false, senderCarriers: null },
      correlationId: newId('req', clock),
      segmentsPerDay: null,
      holds: [],
      clients: [],
    };
  }

  const startOf = (index: number): SteppedStart => {
    const found = starts.get(index) ?? beginStart(database, options, items[index] as StartItem);
    starts.set(index, found);
    return found;
  };

  async function stepStart(index: number, step: string): Promise<void> {
    // Without a row there is none to lock.
    if (step === 'finds none') return;
    const start = startOf(index);
    if (step === 'begins') return start.arrive();
    await start.goOn();
    const { answer, error } = start.outcome();
    if (answer !== undefined && !ids.includes(answer.verification.id)) ids.push(answer.verification.id);
    if (step.startsWith('is refused')) assert.ok(violates(error, 'verification_pending'), `${error}`);
    else assert.equal(error, undefined);
    const isOver = answer !== undefined || error !== undefined;
    assert.equal(
      isOver,
      /^(startFree$|startFree, and|commits|is refused)/.test(step),
      `it stands before ${start.standsBefore()}`,
    );
    if (isOver) starts.delete(index);
  }

  async function stepCheck(target: number, isRight: boolean, step: string): Promise<void> {
    const key = { id: ids[target] ?? '', applicationId };
    const nowMs = clock.nowMs();
    if (step.startsWith('gets the stored')) return;
    // No version is right under a wrong code.
    const row = {
      ...key,
      ...(await codeOf(key.id, isRight)),
      rightUnder: isRight ? [keys.version] : [],
      isTestCode: false,
      payment: null,
    };
    await (step.startsWith('spendTries') ? spendTries : decideChecks)(database, [row], nowMs);
  }

  async function codeOf(id: string, isRight: boolean): Promise<{ codeLength: number; hashes: string[] }> {
    const { rows } = await database.query<{ codeLength: number; hash: string | null }>(
      'select code_length as "codeLength", code_hash::text as hash from verification where id = $1',
      [uuidOf(id)],
    );
    const { codeLength = 0, hash = null } = rows[0] ?? {};
    return { codeLength, hashes: isRight && hash !== null ? [hash] : ['\\x00'] };
  }

  async function cancel(target: number): Promise<void> {
    await database.transaction(async (tx) => {
      const [canceled] = await cancelPending(tx, [{ applicationId, id: ids[target] ?? '' }], clock.nowMs());
      if (canceled !== undefined) await cancelTexts(tx, canceled.textIds, clock.nowMs());
    });
  }

  return {
    applicationId,
    ids,
    startOf,
    /** Does what a step of the model says, by the functions that it names. */
    async step(name: string, { checks }: State): Promise<void> {
      const [, who = '', place = '', step = ''] = /^(start|check) (\d+) (.*)$/.exec(name) ?? [];
      const at = Number(/\d+$/.exec(name)?.[0]);
      if (who === 'start') await stepStart(Number(place), step);
      else if (who === 'check')
        await stepCheck(checks[Number(place)]?.target ?? 0, checks[Number(place)]?.isRight === true, step);
      else if (name === 'time passes') clock.advance(tickMs);
      else if (name.startsWith('expireSome')) await expireLapsed(database, [{ id: ids[at] ?? '' }], clock.nowMs());
      else await cancel(Number(/\d+/.exec(name)?.[0]));
    },
    /** Tries wrong codes until none is left. */
    async spend(id: string | undefined): Promise<void> {
      const row = {
        id: id ?? '',
        applicationId,
        codeLength: 6,
        rightUnder: [],
        isTestCode: false,
        hashes: ['\\x00'],
        payment: null,
      };
      while (id !== undefined && (await decideChecks(database, [row], clock.nowMs())).length > 0);
    },
    /** The verifications as the tables have them. */
    async read() {
      const { rows } = await database.query<RealRow>(readStatement, [uuidOf(applicationId), ids.map(uuidOf), to]);
      return rows.map(({ status, resendAtMs, expiresAtMs, ...row }) => ({
        ...row,
        status: statusOf(status),
        resendAt: resendAtMs === null ? null : (resendAtMs - startMs) / tickMs,
        expiresAt: (expiresAtMs - startMs) / tickMs,
      }));
    },
    async finish() {
      await Promise.all([...starts.values()].map((start) => start.finish()));
    },
  };
}

interface RealRow {
  status: number;
  resendAtMs: number | null;
  expiresAtMs: number;
}

const readStatement = {
  name: 'read-model-verifications',
  text: `select v.code_length as length, v.status, v.attempts, v.max_attempts as "maxAttempts", v.sends,
      v.resend_available_at as "resendAtMs", v.expires_at as "expiresAtMs",
      (select count(*)::integer from message m where m.id = any(v.text_ids)) as texts,
      coalesce((select bool_and(m.status = ${textStatusCode('canceled')}) from message m where m.id = any(v.text_ids)), false)
        as "textsCanceled",
      (select count(*)::integer from event e where e.subject = v.id) as events,
      (select count(*)::integer from pending_verification p
       where p.verification_id = v.id and p.recipient = $3 and p.application_id = $1) as pending,
      (select count(*)::integer from ended_verification n where n.verification_id = v.id and n.status = v.status) as ended,
      (select coalesce(sum(f.attempts), 0)::integer from recent_failure f
       where f.verification_id = v.id and f.recipient = $3 and f.application_id = $1) as failures,
      v.code_hash is not null as given,
      (select count(*)::integer from pending_verification p where p.verification_id = v.id and p.sealed_code is not null
       and p.recipient = $3 and p.application_id = $1) as sealed
    from unnest($2::uuid[]) with ordinality as i(id, place) join verification v on v.id = i.id
    where v.application_id = $1 order by i.place`,
};
