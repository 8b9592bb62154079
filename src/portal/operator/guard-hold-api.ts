// Tests: test/contract/guard-conversion.test.ts
import { type Static, Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import { nullable, pageQuery, pageSchema, pathParameter, readPage, recordId, toPage } from '../../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../../http/route.ts';
import { prefixOfGroup } from '../../messages/numbers/number-prefix.ts';
import { type Clock, timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import { isId, uuidOf } from '../../platform/ids.ts';
import { scopeKindOf } from '../../quality/conversion/scope.ts';
import {
  endHold,
  findHold,
  type HoldRow,
  listHolds,
  readMembersEnd,
  takeMembersEnd,
} from '../../quality/guard-hold-store.ts';
import type { ChangeFeed } from '../../registry/change-feed.ts';
import { readNames } from '../../registry/registry-store.ts';

export interface GuardHoldOptions {
  database: Database;
  clock: Clock;
  feed: Pick<ChangeFeed, 'change'>;
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const heldGroups = ['prefix', 'country', 'address', 'program', 'device'] as const;
type HeldGroup = (typeof heldGroups)[number];

const seenSchema = Type.Object(
  {
    id: recordId('hld'),
    application_id: recordId('app'),
    application_name: Type.String(),
    group: Type.Unsafe<HeldGroup>({
      type: 'string',
      enum: [...heldGroups],
      examples: ['prefix'],
      description:
        'What the starts have in common: the prefix or country of their numbers, or the address, the program at an address or the device that `client` names. The value itself is not shown.',
    }),
    country: nullable(
      Type.String({ description: 'The country of the numbers; null for ranges of no country, and for clients' }),
    ),
    prefix: nullable(
      Type.String({
        examples: ['+44770090'],
        description: 'The prefix of the numbers; null unless the group is a prefix',
      }),
    ),
    acts: Type.Boolean({ description: 'Whether the guard blocks these starts; false if it only reports them' }),
    numbers: Type.Integer({ examples: [40], description: 'Numbers of the group that got a code' }),
    approved: Type.Integer({ examples: [1], description: 'Numbers of the group whose code was entered' }),
    least_share: Type.Number({
      examples: [0.26],
      description: 'The lowest share of approved numbers that the guard accepts',
    }),
    blocked: Type.Integer({
      examples: [312],
      description: 'Starts that the hold blocked, counted with a delay of 10 minutes',
    }),
    began_at: Type.String(),
    ends_at: Type.String(),
    ended_at: nullable(Type.String()),
    ended_by_member: Type.Boolean({ description: 'Whether a member of the account ended it' }),
  },
  { title: 'GuardHoldSeen' },
);
const ownSchema = Type.Object(
  {
    ...seenSchema.properties,
    may_end_at: nullable(
      Type.String({ description: 'When a member may end it: one hold a day. Null if ended, or only reported.' }),
    ),
  },
  { title: 'OwnGuardHold' },
);
const holdSchema = Type.Object(
  {
    ...seenSchema.properties,
    ended_by: nullable(Type.String({ description: 'The person who ended it; null if its time was over' })),
  },
  { title: 'GuardHold' },
);
export type OwnGuardHoldRecord = Static<typeof ownSchema>;
export type GuardHoldRecord = Static<typeof holdSchema>;

const states = ['open', 'ended'] as const;
const query = Type.Object({
  state: Type.Unsafe<(typeof states)[number]>({
    type: 'string',
    enum: [...states],
    default: 'open',
    description: 'Current holds, or those that have ended',
    expected: `one of ${states.join(', ')}`,
  }),
  ...pageQuery,
});
const params = Type.Object({ id: pathParameter });
const ownParams = Type.Object({ id: pathParameter, hold_id: pathParameter });
const over = () => new ApiError('INCOMPATIBLE_STATE', 'This hold is over already; verifications pass.');

/** Groups of verifications that the guard holds back as probable pumping (section 6 of the contract). */
export function createGuardHoldRoutes({ database, clock, feed, requireOwn }: GuardHoldOptions, audit: Audit): Route[] {
  const shared = { auth: { kind: 'operator' }, tag: 'Developer portal: operators' } as const;
  const base = '/portal/v1/operator/guard-holds';

  async function list(given: Static<typeof query>, applicationId: string | undefined) {
    const { limit, after } = readPage(given);
    const rows = await listHolds(database, {
      ...{ state: given.state, nowMs: clock.nowMs(), applicationId, limit: limit + 1, after },
    });
    return toPage(await toRecords(rows), limit, (record) => record);
  }

  async function toRecords(rows: HoldRow[]): Promise<GuardHoldRecord[]> {
    const names = await readNames(database, [...new Set(rows.map(({ applicationId }) => applicationId))]);
    return rows.map((row) => toRecord(row, names.get(row.applicationId) ?? ''));
  }

  /** An expired hold has ended at its expiry, even if its row does not show it yet. */
  function toRecord(row: HoldRow, name: string): GuardHoldRecord {
    const endedAtMs = row.endedAtMs ?? (row.untilMs <= clock.nowMs() ? row.untilMs : null);
    return {
      id: row.id,
      application_id: row.applicationId,
      application_name: name,
      group: groupOf(row.scope),
      country: row.country,
      prefix: row.scope.startsWith('+') ? prefixOfGroup(row.scope) : null,
      acts: row.acts,
      numbers: row.numbers,
      approved: row.approved,
      least_share: Number(row.leastShare.toFixed(3)),
      blocked: row.blocked,
      began_at: toTimestamp(row.beganAtMs),
      ends_at: toTimestamp(row.untilMs),
      ended_at: timestampOrNull(endedAtMs),
      ended_by_member: row.endedByMember,
      ended_by: row.endedBy,
    };
  }

  /** The record that members of the account see: without the operator who ended the hold. */
  function toOwn({ ended_by: _, ...seen }: GuardHoldRecord, mayEndAtMs: number | null): OwnGuardHoldRecord {
    const canEnd = seen.acts && seen.ended_at === null;
    return { ...seen, may_end_at: canEnd ? toTimestamp(mayEndAtMs ?? clock.nowMs()) : null };
  }

  return [
    route({
      method: 'GET',
      path: base,
      ...shared,
      operationId: 'listGuardHolds',
      summary: 'List what the guard holds back, newest first',
      description: 'Holds that have ended are kept for 30 days.',
      query,
      answers: { 200: { description: 'A page of holds', schema: pageSchema(holdSchema) } },
      handler: async (call) => ({ status: 200, body: await list(call.query, undefined) }),
    }),
    route({
      method: 'POST',
      path: `${base}/{id}/end`,
      ...shared,
      operationId: 'endGuardHold',
      summary: 'Let verifications through again',
      description: 'Takes effect on every node before the answer. Only codes that come later can be held back again.',
      params,
      answers: { 200: { description: 'The hold, ended', schema: holdSchema } },
      refuses: { INCOMPATIBLE_STATE: 'It has already ended' },
      handler: async (call) => {
        const { id } = call.params;
        const found = isId('hld', id) ? await findHold(database, id) : undefined;
        if (found === undefined) throw notFound();
        const { personId } = requireDeveloper(call);
        await feed.change(found.applicationId, async (tx) => {
          if (!(await endHold(tx, id, { personId, isMember: false }, clock.nowMs()))) throw over();
          await audit.record(tx, call, {
            act: 'hold.ended',
            id,
            details: { application_id: found.applicationId },
          });
        });
        const [record] = await toRecords([(await findHold(database, id)) ?? found]);
        if (record === undefined) throw notFound();
        return { status: 200, body: record };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/applications/{id}/guard-holds',
      auth: { kind: 'developer' },
      tag: 'Developer portal: applications',
      operationId: 'listOwnGuardHolds',
      summary: 'List what the guard holds back of an application, newest first',
      description: 'Holds that have ended are kept for 30 days.',
      params,
      query,
      answers: { 200: { description: 'A page of holds', schema: pageSchema(ownSchema) } },
      handler: async (call) => {
        const { id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const { data, ...page } = await list(call.query, id);
        const mayEndAtMs = await readMembersEnd(database, uuidOf(id), clock.nowMs());
        return { status: 200, body: { ...page, data: data.map((hold) => toOwn(hold, mayEndAtMs)) } };
      },
    }),
    route({
      method: 'POST',
      path: '/portal/v1/applications/{id}/guard-holds/{hold_id}/end',
      auth: { kind: 'developer' },
      tag: 'Developer portal: applications',
      operationId: 'endOwnGuardHold',
      summary: 'Let verifications through again: one hold a day',
      description: 'Takes effect on every node before the answer. Only codes that come later can be held back again.',
      params: ownParams,
      answers: { 200: { description: 'The hold, ended', schema: ownSchema } },
      refuses: { INCOMPATIBLE_STATE: 'It has already ended, or one was ended in the last 24 hours' },
      handler: async (call) => {
        const { id, hold_id } = call.params;
        const { accountId, personId } = requireDeveloper(call);
        await requireOwn(accountId, id);
        const found = isId('hld', hold_id) ? await findHold(database, hold_id) : undefined;
        if (found?.applicationId !== id || !found.acts) throw notFound();
        const nowMs = clock.nowMs();
        await feed.change(id, async (tx) => {
          if (!(await takeMembersEnd(tx, uuidOf(id), nowMs))) throw await tooSoon(tx, id, nowMs);
          if (!(await endHold(tx, hold_id, { personId, isMember: true }, nowMs))) throw over();
          await audit.record(tx, call, { act: 'hold.ended', id: hold_id, details: { application_id: id } });
        });
        const [record] = await toRecords([(await findHold(database, hold_id)) ?? found]);
        if (record === undefined) throw notFound();
        return { status: 200, body: toOwn(record, null) };
      },
    }),
  ];
}

/** Members may end one hold per application in 24 hours: this error says when they can end the next. */
async function tooSoon(tx: Tx, applicationId: string, nowMs: number): Promise<ApiError> {
  const fromMs = (await readMembersEnd(tx, uuidOf(applicationId), nowMs)) ?? nowMs;
  const message = `A hold of this application was ended already in the last 24 hours. You can end the next one at ${toTimestamp(fromMs)}; an operator can at any time.`;
  return new ApiError('INCOMPATIBLE_STATE', message);
}

function groupOf(scope: string): HeldGroup {
  const kind = scopeKindOf(scope);
  return kind === 'wide_prefix' ? 'prefix' : kind;
}
