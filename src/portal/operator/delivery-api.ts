// Tests: test/contract/operator-deliveries.test.ts
import { type Static, Type } from 'typebox';
import { findWaiting, type WaitingText } from '../../delivery/queue/waiting-texts.ts';
import type { KnownCarrier } from '../../delivery/routing/directory.ts';
import { route as routeOf } from '../../delivery/routing/routing.ts';
import type { RouteTable } from '../../delivery/routing/table.ts';
import { nullable, pageQuery, pageSchema, readPage, toPage } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import { routedCountryOf } from '../../messages/numbers/phone-number.ts';
import { type Clock, timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { adviseOn } from '../../quality/delivery-advice.ts';

export interface DeliveryRoutesOptions {
  database: Database;
  clock: Clock;
  carriers: () => readonly KnownCarrier[];
  table: () => RouteTable;
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

const states = ['stuck', 'in_doubt'] as const;
/** The carrier of the virtual handsets has no settings and no state. */
const sandboxKey = 'sandbox';

/** Texts that may need an operator. */
export function createDeliveryRoutes({ database, clock, carriers, table }: DeliveryRoutesOptions): Route[] {
  function isUnroutable({ id, to, sender, api, applicationId }: WaitingText): boolean {
    if (table().routes.length === 0 || !to.startsWith('+') || to.includes('•')) return false;
    const facts = { messageId: id, to, country: routedCountryOf(to), from: sender, api, applicationId };
    const more = { urgent: true, isCode: api === 'verify', senderCarriers: null, used: [], nowMs: clock.nowMs() };
    return routeOf({ ...facts, ...more }, table(), carriers()).outcome === 'unroutable';
  }

  function toDelivery(text: WaitingText): DeliveryRecord {
    const [name = text.carrier] = text.carrier.split('#');
    const known = text.carrier === sandboxKey ? null : carriers().find(({ key }) => key === text.carrier);
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
      ...adviseOn({ text, carrierName: name, carrier: known, unroutable: known !== null && isUnroutable(text) }),
    };
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
        state: Type.Unsafe<(typeof states)[number]>({
          type: 'string',
          enum: [...states],
          default: 'stuck',
          description: 'The problem',
          expected: `one of ${states.join(', ')}`,
        }),
        carrier: Type.Optional(Type.String({ maxLength: 32, description: 'The name of a carrier' })),
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
  ];
}
