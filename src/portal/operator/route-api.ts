// Tests: test/contract/operator-routes.test.ts

import { type Static, Type } from 'typebox';
import type { Audit } from '../../accounts/audit/audit.ts';
import type { Explained, ExplainRoute } from '../../delivery/routing/explain.ts';
import { type GivenRoute, routeSchema, routesSchema, toRule } from '../../delivery/routing/schema.ts';
import type { RouteService, ShownTable } from '../../delivery/routing/service.ts';
import type { RouteRule } from '../../delivery/routing/table.ts';
import { nullable } from '../../http/list-page.ts';
import { validationError } from '../../http/request/validation.ts';
import { type Api, type Route, requireDeveloper, route } from '../../http/route.ts';
import { carrierNameOf } from '../../messages/message.ts';
import { longestNumber, numberForm, readNumber, rightNumber } from '../../messages/numbers/phone-number.ts';
import { longestSender, rightSender } from '../../messages/numbers/sender.ts';
import { timestampOrNull } from '../../platform/clock.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import type { CountryEffect } from '../../quality/route-effect.ts';

export interface RouteRoutesOptions {
  routes: RouteService;
  explain: ExplainRoute;
  /** What rules would have done to the texts of the last day. */
  effect: (rules: readonly RouteRule[]) => Promise<CountryEffect[]>;
}

const routesPath = '/portal/v1/operator/routes';
const shared = { auth: { kind: 'operator' }, tag: 'Developer portal: carriers' } as const;

const tableSchema = Type.Object(
  {
    version: Type.Integer({ examples: [1], description: 'Rises with each change; 0 before the first' }),
    routes: Type.Array(routeSchema),
    updated_at: nullable(Type.String()),
  },
  { title: 'RouteTable' },
);
export type RouteTableRecord = Static<typeof tableSchema>;

const explainBody = Type.Object(
  {
    to: Type.Optional(
      nullable(Type.String({ maxLength: longestNumber, expected: rightNumber, description: numberForm })),
    ),
    from: Type.Optional(nullable(Type.String({ maxLength: longestSender, expected: rightSender }))),
    api: Type.Optional(
      nullable(
        Type.Unsafe<Api>(
          Type.String({ maxLength: 16, pattern: '^(?:sms|verify|messaging)$', expected: 'sms, verify or messaging' }),
        ),
      ),
    ),
    application_id: Type.Optional(nullable(Type.String({ maxLength: 64 }))),
    message_id: Type.Optional(
      nullable(
        Type.String({
          maxLength: 64,
          description: 'The id of a text that was sent; without it, the answer shows the share of each carrier',
        }),
      ),
    ),
    routes: Type.Optional(routesSchema),
  },
  {
    title: 'TextToExplain',
    examples: [{ to: '+447700900123', from: 'ACME', api: 'sms' }],
    check: ({ to }: Record<string, unknown>): FieldProblem[] =>
      typeof to === 'string' && readNumber(to) === undefined
        ? [{ field: 'to', message: `must be ${rightNumber}` }]
        : [],
  },
);

const explainedSchema = Type.Object(
  {
    version: Type.Integer({ examples: [1], description: 'The version of the table that decided' }),
    outcome: Type.String({ examples: ['routed'], description: 'routed, unroutable or no_carrier' }),
    rule: Type.Union([routeSchema, Type.Null()], { description: 'The route that matches; null with an empty table' }),
    from: nullable(Type.String({ description: 'The sender that the route sets instead of the given one' })),
    deferred_until: nullable(Type.String({ description: 'When the hours of the route begin' })),
    candidates: Type.Array(
      Type.Object({
        carrier: Type.String(),
        group: Type.String({ examples: ['carriers'], description: 'carriers or failover' }),
        available: Type.Boolean(),
        share: Type.Number({ description: 'The share of texts like this one that the carrier gets first, 0 to 1' }),
        reason: Type.String(),
      }),
      { description: 'The best first' },
    ),
    chosen: nullable(Type.String({ description: 'With message_id: the carrier that the text was given to' })),
    carrier: nullable(Type.String({ description: 'With message_id: the carrier that has the text now' })),
  },
  { title: 'RouteExplanation' },
);

export type RouteExplanationRecord = Static<typeof explainedSchema>;

const mostCountries = 300;
const effectSchema = Type.Object(
  {
    texts: Type.Integer({ description: 'Texts of today and yesterday (UTC)' }),
    refused: Type.Integer({ description: 'Texts that none of these routes matches' }),
    unsure: Type.Integer({ description: 'Texts that only routes for some APIs or prefixes may match' }),
    countries: Type.Array(
      Type.Object({
        country: nullable(Type.String({ description: 'Null for numbers that belong to no country' })),
        texts: Type.Integer(),
        refused: Type.Integer(),
        unsure: Type.Integer(),
      }),
      { description: 'Those with the most refused texts first' },
    ),
  },
  { title: 'RouteEffect' },
);
export type RouteEffectRecord = Static<typeof effectSchema>;

/** The table of routes, for operators (section 14 of the contract). */
export function createRouteRoutes({ routes, explain, effect }: RouteRoutesOptions, audit: Audit): Route[] {
  const found = { 200: { description: 'The whole table, in order', schema: tableSchema } };

  /** A draft is checked like a table, so that it explains only routes that could be saved. */
  async function readDraft(given: readonly GivenRoute[] | undefined) {
    if (given === undefined) return null;
    const problems = await routes.check(given);
    if (problems.length > 0) throw validationError(problems);
    return given.map(toRule);
  }

  return [
    route({
      method: 'GET',
      path: routesPath,
      ...shared,
      operationId: 'getRoutes',
      summary: 'Read the routes',
      answers: found,
      handler: async () => ({ status: 200, body: toTable(await routes.read()) }),
    }),
    route({
      method: 'PUT',
      path: routesPath,
      ...shared,
      operationId: 'replaceRoutes',
      summary: 'Replace the routes',
      description:
        'Takes the version that the change was made from; an older one is refused (409). Takes effect on every node within 2 seconds. ' +
        'An empty list means all carriers, by name.',
      body: Type.Object(
        {
          version: Type.Integer({
            minimum: 0,
            maximum: 2 ** 31 - 2,
            examples: [1],
            expected: 'the version that was read',
          }),
          routes: routesSchema,
        },
        { title: 'RouteTableToSet' },
      ),
      answers: found,
      refuses: { INCOMPATIBLE_STATE: 'The routes have been changed since this version' },
      handler: async (call) => {
        const { version, routes: given } = call.body;
        const details = { version: version + 1, routes: given.map(({ name }) => name) };
        const note = audit.note(call, { act: 'routes.replaced', id: String(version + 1), details });
        const table = await routes.replace(version, given, requireDeveloper(call).accountId, note);
        return { status: 200, body: toTable(table) };
      },
    }),
    route({
      method: 'POST',
      path: `${routesPath}/explain`,
      ...shared,
      operationId: 'explainRoute',
      summary: 'Explain which carriers a text has, in which order, and why',
      description:
        'For a text that was sent: by the table and the carrier states of that time; else by the current ones. ' +
        'With routes: by these instead of the table, before they are saved.',
      body: explainBody,
      answers: { 200: { description: 'The decision', schema: explainedSchema } },
      handler: async (call) => {
        const { to, from = null, api = null, application_id = null, message_id = null } = call.body;
        const explained = await explain({
          messageId: message_id,
          to: to ? (readNumber(to) ?? null) : null,
          from,
          api,
          applicationId: application_id,
          draft: await readDraft(call.body.routes),
        });
        return { status: 200, body: toExplanation(explained, message_id) };
      },
    }),
    route({
      method: 'POST',
      path: `${routesPath}/effect`,
      ...shared,
      operationId: 'readRouteEffect',
      summary: 'Count the texts of the last day that these routes would have refused, by country',
      description:
        'Without routes every text is sent; with routes, what matches none is refused. Counts come from the totals of ' +
        'today and yesterday by country, sender and application. Nothing is saved.',
      body: Type.Object({ routes: routesSchema }, { title: 'RoutesToTry' }),
      answers: { 200: { description: 'The effect', schema: effectSchema } },
      handler: async (call) => {
        const rules = (await readDraft(call.body.routes)) ?? [];
        return { status: 200, body: toEffect(await effect(rules)) };
      },
    }),
  ];
}

function toEffect(countries: CountryEffect[]) {
  const sum = (name: 'texts' | 'refused' | 'unsure') => countries.reduce((all, each) => all + each[name], 0);
  return {
    ...{ texts: sum('texts'), refused: sum('refused'), unsure: sum('unsure') },
    countries: countries.slice(0, mostCountries).map(({ country, ...counts }) => {
      return { country: country === '' ? null : country, ...counts };
    }),
  };
}

function toTable({ version, routes, updatedAtMs }: ShownTable) {
  return { version, routes, updated_at: timestampOrNull(updatedAtMs) };
}

function toExplanation({ decision, version, text }: Explained, messageId: string | null) {
  const { outcome } = decision;
  const isRouted = outcome === 'routed';
  const candidates = isRouted ? decision.candidates : [];
  return {
    version,
    outcome,
    rule: outcome === 'no_carrier' ? null : decision.rule,
    from: isRouted ? decision.from : null,
    deferred_until: isRouted ? timestampOrNull(decision.deferredUntilMs) : null,
    candidates: candidates.map(({ name, group, available, share, reason }) => ({
      ...{ carrier: name, group, available, share, reason },
    })),
    chosen: messageId === null ? null : (candidates[0]?.name ?? null),
    carrier: text === undefined ? null : carrierNameOf(text.carrier),
  };
}
