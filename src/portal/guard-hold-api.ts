import { type Static, Type } from 'typebox';
import { nullable, pageQuery, pageSchema, pathParameter, readPage, recordId, toPage } from '../http/list-page.ts';
import { type Route, requireDeveloper, route } from '../http/route.ts';
import { prefixOfGroup } from '../messages/number-prefix.ts';
import { type Clock, timestampOrNull, toTimestamp } from '../platform/clock.ts';
import type { Database } from '../platform/database.ts';
import { ApiError, notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import { endHold, findHold, type HoldRow, listHolds } from '../quality/guard-hold-store.ts';
import type { ChangeFeed } from '../registry/change-feed.ts';
import { readNames } from '../registry/registry-store.ts';
import type { Audit } from './audit.ts';

export interface GuardHoldOptions {
  database: Database;
  clock: Clock;
  feed: Pick<ChangeFeed, 'change'>;
  requireOwn: (accountId: string, applicationId: string) => Promise<unknown>;
}

const ownSchema = Type.Object(
  {
    id: recordId('hld'),
    application_id: recordId('app'),
    application_name: Type.String(),
    country: nullable(Type.String({ description: 'The country of the numbers; null for ranges of none' })),
    prefix: nullable(
      Type.String({ examples: ['+44770090'], description: 'What the numbers begin with; null for the whole country' }),
    ),
    acts: Type.Boolean({ description: 'False if it is only reported' }),
    numbers: Type.Integer({ examples: [40], description: 'So many numbers got a code' }),
    approved: Type.Integer({ examples: [1], description: 'So many of them typed it in' }),
    least_share: Type.Number({ examples: [0.26], description: 'The share of approvals that it should have at least' }),
    blocked: Type.Integer({ examples: [312], description: 'Starts that it held back, counted 10 minutes later' }),
    began_at: Type.String(),
    ends_at: Type.String(),
    ended_at: nullable(Type.String()),
  },
  { title: 'OwnGuardHold' },
);
const holdSchema = Type.Object(
  {
    ...ownSchema.properties,
    ended_by: nullable(Type.String({ description: 'The operator who ended it; null if its time was over' })),
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
    description: 'Those that last, or those that are over',
    expected: `one of ${states.join(', ')}`,
  }),
  ...pageQuery,
});
const params = Type.Object({ id: pathParameter });

/** What the guard holds back because it looks like pumping (section 6 of the contract). */
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

  /** One whose time is over has ended then, even if its row does not say so yet. */
  function toRecord(row: HoldRow, name: string): GuardHoldRecord {
    const endedAtMs = row.endedAtMs ?? (row.untilMs <= clock.nowMs() ? row.untilMs : null);
    return {
      id: row.id,
      application_id: row.applicationId,
      application_name: name,
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
      ended_by: row.endedBy,
    };
  }

  return [
    route({
      method: 'GET',
      path: base,
      ...shared,
      operationId: 'listGuardHolds',
      summary: 'List what the guard holds back, newest first',
      description: 'Those that are over are kept for 30 days.',
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
      description: 'Holds on every node when it is answered. Only codes that come later can be held back again.',
      params,
      answers: { 200: { description: 'The hold, ended', schema: holdSchema } },
      refuses: { INCOMPATIBLE_STATE: 'It is over already' },
      handler: async (call) => {
        const { id } = call.params;
        const found = isId('hld', id) ? await findHold(database, id) : undefined;
        if (found === undefined) throw notFound();
        const { personId } = requireDeveloper(call);
        await feed.change(found.applicationId, async (tx) => {
          if (!(await endHold(tx, id, personId, clock.nowMs())))
            throw new ApiError('INCOMPATIBLE_STATE', 'This hold is over already; verifications pass.');
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
      description: 'Those that are over are kept for 30 days.',
      params,
      query,
      answers: { 200: { description: 'A page of holds', schema: pageSchema(ownSchema) } },
      handler: async (call) => {
        const { id } = call.params;
        await requireOwn(requireDeveloper(call).accountId, id);
        const { data, ...page } = await list(call.query, id);
        return { status: 200, body: { ...page, data: data.map(({ ended_by: _, ...own }) => own) } };
      },
    }),
  ];
}
