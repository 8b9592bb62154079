// Tests: test/contract/operator-deliveries.test.ts

import { type Static, Type } from 'typebox';
import { findWaiting, mostRead, type WaitingText } from '../../delivery/queue/waiting-texts.ts';
import { nullable, pageQuery, pageSchema, readPage, toPage } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import { carrierNameOf } from '../../messages/message.ts';
import { type Clock, timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { adviseOn } from '../../quality/delivery-advice.ts';
import type { WaitStories } from '../../quality/waiting/stories.ts';

export interface DeliveryRoutesOptions {
  database: Database;
  clock: Clock;
  waits: Pick<WaitStories, 'factsOf'>;
}

const deliverySchema = Type.Object(
  {
    message_id: Type.String(),
    application_id: Type.String(),
    api: Type.String(),
    carrier: Type.String(),
    number_ends: Type.String({ description: 'The last three digits of the phone number' }),
    state: Type.String({ examples: ['stuck'], description: 'stuck or in_doubt' }),
    attempts: Type.Integer({ description: 'Submits so far' }),
    since: Type.String({ description: 'When it was first due' }),
    due: nullable(Type.String({ description: 'When it is tried again; null if as soon as possible' })),
    expires_at: Type.String(),
    reason: Type.String(),
    advice: Type.String({ description: 'What an operator can do' }),
  },
  { title: 'WaitingText' },
);
export type DeliveryRecord = Static<typeof deliverySchema>;

const groupSchema = Type.Object(
  {
    carrier: Type.String(),
    reason: Type.String(),
    advice: Type.String({ description: 'What an operator can do' }),
    texts: Type.Integer(),
    since: Type.String({ description: 'When the oldest was first due' }),
  },
  { title: 'WaitingGroup' },
);
export type DeliveryGroupRecord = Static<typeof groupSchema>;
const groupsSchema = Type.Object(
  {
    data: Type.Array(groupSchema, { description: 'The largest first' }),
    truncated: Type.Boolean({ description: `There are more: the oldest ${mostRead} are counted` }),
  },
  { title: 'WaitingGroups' },
);

const states = ['stuck', 'in_doubt'] as const;
const filters = {
  state: Type.Unsafe<(typeof states)[number]>({
    type: 'string',
    enum: [...states],
    default: 'stuck',
    description: 'The problem',
    expected: `one of ${states.join(', ')}`,
  }),
  carrier: Type.Optional(Type.String({ maxLength: 32, description: 'The name of a carrier' })),
};
const mostGroups = 100;
/** Left out of reasons, so that texts that differ only in their attempts form one group. */
const triesPattern = / \(\d+ attempts? so far\)/;

/** Texts that may need an operator. */
export function createDeliveryRoutes({ database, clock, waits }: DeliveryRoutesOptions): Route[] {
  function toDelivery(text: WaitingText): DeliveryRecord {
    const name = carrierNameOf(text.carrier);
    return {
      message_id: text.id,
      application_id: text.applicationId,
      api: text.api,
      carrier: name,
      number_ends: text.to.slice(-3),
      state: text.inDoubt ? 'in_doubt' : 'stuck',
      attempts: text.attempt,
      since: toTimestamp(text.sinceMs),
      due: timestampOrNull(text.dueAtMs),
      expires_at: toTimestamp(text.expiresAtMs),
      ...adviseOn({ ...waits.factsOf(text), api: text.api }),
    };
  }

  function toGroups(texts: readonly WaitingText[]): DeliveryGroupRecord[] {
    const groups = new Map<string, DeliveryGroupRecord>();
    for (const text of texts) {
      const { carrier, reason, advice, since } = toDelivery(text);
      const equal = reason.replace(triesPattern, '');
      const id = `${carrier} ${equal}`;
      const group = groups.get(id) ?? { carrier, reason: equal, advice, texts: 0, since };
      group.texts++;
      if (since < group.since) group.since = since;
      groups.set(id, group);
    }
    return [...groups.values()].sort((a, b) => b.texts - a.texts).slice(0, mostGroups);
  }

  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/deliveries',
      auth: { kind: 'operator' },
      tag: 'Developer portal: carriers',
      operationId: 'listDeliveries',
      summary: 'List texts that wait for over a minute, or that may have been sent; oldest first, with what to do',
      query: Type.Object({
        ...filters,
        ...pageQuery,
      }),
      answers: { 200: { description: 'A page of texts', schema: pageSchema(deliverySchema) } },
      handler: async (call) => {
        const { limit, after } = readPage(call.query);
        const { state, carrier } = call.query;
        const found = await findWaiting(database, { state, carrier, after, limit: limit + 1, nowMs: clock.nowMs() });
        return { status: 200, body: toPage(found.texts, limit, toDelivery, found.searchedTo) };
      },
    }),
    route({
      method: 'GET',
      path: '/portal/v1/operator/deliveries/groups',
      auth: { kind: 'operator' },
      tag: 'Developer portal: carriers',
      operationId: 'listDeliveryGroups',
      summary: 'Count the texts that wait, or may have been sent, by carrier and reason',
      query: Type.Object(filters),
      answers: { 200: { description: 'The groups', schema: groupsSchema } },
      handler: async (call) => {
        const { state, carrier } = call.query;
        const of = { state, carrier, after: undefined, limit: mostRead, nowMs: clock.nowMs() };
        const { texts, searchedTo } = await findWaiting(database, of);
        return { status: 200, body: { data: toGroups(texts), truncated: searchedTo !== undefined } };
      },
    }),
  ];
}
