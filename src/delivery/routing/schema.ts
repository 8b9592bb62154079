// Tests: test/contract/operator-routes.test.ts
import { type Static, Type } from 'typebox';
import { nullable } from '../../http/list-page.ts';
import type { Api } from '../../http/route.ts';
import { rightChannel, type SendingChannel, sendingChannels } from '../../messages/channel.ts';
import { isCountry } from '../../messages/numbers/phone-number.ts';
import { longestSender, rightSender, senderProblem } from '../../messages/numbers/sender.ts';
import type { FieldProblem } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { isZone, weekDays } from './hours.ts';
import type { RouteRule } from './table.ts';

export const mostRoutes = 500;
const mostNames = 50;
const carrierName = Type.String({ maxLength: 32, expected: 'the name of a carrier' });
const list = (item: ReturnType<typeof Type.String>, description: string) =>
  Type.Array(item, {
    maxItems: mostNames,
    default: [],
    description,
    expected: `a list of at most ${mostNames} entries`,
  });
const time = '^(?:[01][0-9]|2[0-3]):[0-5][0-9]$';

const matchSchema = Type.Object(
  {
    countries: list(Type.String({ maxLength: 2, expected: 'a country code like GB' }), 'ISO 3166 codes like GB'),
    prefixes: list(
      Type.String({
        maxLength: 16,
        pattern: '^\\+?[1-9][0-9]{0,14}$',
        expected: 'the first digits of numbers, like +4477',
      }),
      'What the number begins with, like +4477',
    ),
    apis: Type.Unsafe<Api[]>(
      Type.Array(
        Type.String({ maxLength: 16, pattern: '^(?:sms|verify|messaging)$', expected: 'sms, verify or messaging' }),
        {
          maxItems: 3,
          default: [],
          description: 'sms, verify, messaging',
        },
      ),
    ),
    channels: Type.Unsafe<SendingChannel[]>(
      Type.Array(
        Type.String({
          maxLength: 16,
          pattern: `^(?:${sendingChannels.join('|')})$`,
          expected: rightChannel(sendingChannels),
        }),
        {
          maxItems: sendingChannels.length,
          default: [],
          description: `${sendingChannels.join(', ')}; an empty list means all channels of its carriers`,
        },
      ),
    ),
    applications: list(Type.String({ maxLength: 64, expected: 'the id of an application' }), 'Ids of applications'),
    senders: list(Type.String({ maxLength: longestSender, expected: rightSender }), 'What the caller gives as from'),
  },
  { default: {}, description: 'All lists must match; an absent or empty one matches every text', check: checkMatch },
);

const hoursSchema = nullable(
  Type.Object(
    {
      from: Type.String({ maxLength: 5, pattern: time, expected: 'a time like 08:00' }),
      to: Type.String({
        maxLength: 5,
        pattern: `${time.slice(0, -1)}$|^24:00$`,
        expected: 'a time like 20:00, or 24:00',
      }),
      days: Type.Array(
        Type.String({
          maxLength: 3,
          pattern: `^(?:${weekDays.join('|')})$`,
          expected: `one of ${weekDays.join(', ')}`,
        }),
        { maxItems: 7, default: [], description: 'mon to sun; none means every day' },
      ),
      zone: Type.String({ maxLength: 64, default: 'UTC', expected: 'a time zone like Europe/London' }),
    },
    {
      default: null,
      description: 'Outside them texts wait, except codes and texts of high priority',
      check: ({ zone }: Record<string, unknown>): FieldProblem[] =>
        typeof zone !== 'string' || isZone(zone)
          ? []
          : [{ field: 'zone', message: 'must be a time zone of the tz database, like Europe/London' }],
    },
  ),
);

const routeExample = {
  name: 'uk',
  match: { countries: ['GB'], prefixes: [], apis: [], channels: [], applications: [], senders: [] },
  carriers: [{ carrier: 'acme', weight: 1 }],
  failover: [],
  failover_bulk: false,
  from: null,
  hours: null,
};

/** A route as operators write it and as it is shown. */
export const routeSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 64, expected: 'a name (1–64 characters)' }),
    match: matchSchema,
    carriers: Type.Array(
      Type.Object({
        carrier: carrierName,
        weight: Type.Integer({ minimum: 1, maximum: 1000, default: 1, expected: 'a whole number from 1 to 1000' }),
      }),
      {
        minItems: 1,
        maxItems: mostNames,
        expected: `1 to ${mostNames} carriers`,
        description: 'They share the texts by weight',
      },
    ),
    failover: list(carrierName, 'Carriers for codes while none of the carriers above works, in this order'),
    failover_bulk: Type.Union(
      [
        Type.Literal(false),
        Type.Object({
          per_minute: Type.Integer({ minimum: 1, maximum: 1_000_000, expected: 'a whole number from 1 to 1000000' }),
        }),
      ],
      {
        default: false,
        expected: 'false, or an object with per_minute',
        description: 'Whether other texts go to failover too, a minute after their carriers went down',
      },
    ),
    from: nullable(
      Type.String({
        maxLength: longestSender,
        default: null,
        expected: rightSender,
        description: "The sender that replaces the caller's",
      }),
    ),
    hours: hoursSchema,
  },
  {
    title: 'RouteRule',
    examples: [routeExample],
    check: checkRoute,
  },
);

export const routesSchema = Type.Array(routeSchema, {
  maxItems: mostRoutes,
  expected: `at most ${mostRoutes} routes`,
  description: 'The first that matches a text counts; a number that none matches is refused',
});

export type GivenRoute = Static<typeof routeSchema>;

function checkMatch({ countries, applications, senders }: Record<string, unknown>): FieldProblem[] {
  return [
    ...eachProblem('countries', countries, (code) =>
      isCountry(code.toUpperCase()) ? undefined : 'must be a country code of two letters, like GB',
    ),
    ...eachProblem('applications', applications, (id) =>
      isId('app', id) ? undefined : 'must be the id of an application, like app_01…',
    ),
    ...eachProblem('senders', senders, senderProblem),
  ];
}

function eachProblem(field: string, list: unknown, problemOf: (text: string) => string | undefined): FieldProblem[] {
  if (!Array.isArray(list) || list.length > mostNames) return [];
  return list.flatMap((text, index) => {
    const message = typeof text === 'string' && text.length <= 64 ? problemOf(text) : undefined;
    return message === undefined ? [] : [{ field: `${field}/${index}`, message }];
  });
}

function checkRoute({ from, carriers, failover }: Record<string, unknown>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const sender = typeof from === 'string' ? senderProblem(from) : undefined;
  if (sender !== undefined) problems.push({ field: 'from', message: sender });
  if (!Array.isArray(carriers) || !Array.isArray(failover)) return problems;
  const seen = new Set<unknown>();
  const named = [
    ...carriers.map((each, index) => ({ field: `carriers/${index}/carrier`, name: each?.carrier })),
    ...failover.map((name, index) => ({ field: `failover/${index}`, name })),
  ].slice(0, 2 * mostNames);
  for (const { field, name } of named) {
    if (seen.has(name)) problems.push({ field, message: 'must not name a carrier that the route names before' });
    seen.add(name);
  }
  return problems;
}

/** A checked route in the one form that is stored. */
export function toRule(given: GivenRoute): RouteRule {
  const { name, match, carriers, failover, failover_bulk, from, hours } = given;
  return {
    name,
    match: {
      countries: unique(match.countries.map((code) => code.toUpperCase())),
      prefixes: unique(match.prefixes.map((prefix) => (prefix.startsWith('+') ? prefix : `+${prefix}`))),
      apis: unique(match.apis),
      channels: unique(match.channels),
      applications: unique(match.applications),
      senders: unique(match.senders),
    },
    carriers: carriers.map(({ carrier, weight }) => ({ carrier, weight })),
    failover,
    failover_bulk: failover_bulk === false ? false : { per_minute: failover_bulk.per_minute },
    from,
    hours: hours && { from: hours.from, to: hours.to, days: unique(hours.days), zone: hours.zone },
  };
}

function unique<Value>(list: readonly Value[]): Value[] {
  return [...new Set(list)];
}
