import { type Static, Type } from 'typebox';
import { nullable, openValues, recordId } from '../http/list-page.ts';
import { segmentsSchema } from '../messages/message-record.ts';
import { longestNumber, readNumberFilter } from '../messages/numbers/phone-number.ts';
import { toTimestamp } from '../platform/clock.ts';
import type { Inbound } from './inbound.ts';
import { type OptOut, optOutSources, type Scope } from './opt-out.ts';
import { canonicalNumber } from './own-number.ts';

export const inboundSchema = Type.Object(
  {
    id: recordId('inb'),
    to: Type.String({ examples: ['80123'], description: 'Your number or short code' }),
    from: Type.String({ description: 'The number of the phone', examples: ['+447700900123'] }),
    message: nullable(
      Type.String({ examples: ['Where is my order?'], description: 'Null once the retention time is over' }),
    ),
    segments: segmentsSchema,
    keyword: nullable(Type.String({ description: 'The first word, if it decides which application gets the text' })),
    partial: Type.Boolean({ description: 'True if some parts are missing' }),
    received_at: Type.String(),
    possible_opt_out: Type.Optional(
      Type.Literal(true, { description: 'The text begins with a stop word and says more. Nothing was done' }),
    ),
  },
  { title: 'InboundText' },
);
export type InboundRecord = Static<typeof inboundSchema>;

export function toInboundRecord(inbound: Inbound): InboundRecord {
  const { id, to, from, body, keyword, partial } = inbound;
  return {
    id,
    to,
    from,
    message: body,
    segments: {
      count: inbound.segmentCount,
      encoding: inbound.encoding,
      characters: inbound.characters,
      remaining: inbound.remaining,
    },
    keyword,
    partial,
    received_at: toTimestamp(inbound.receivedAtMs),
    ...(inbound.possibleOptOut && { possible_opt_out: true }),
  };
}

const numberFilter = (description: string) =>
  Type.Optional(Type.String({ maxLength: longestNumber, description, examples: ['+447700900123'] }));

export const inboundFilters = {
  from: numberFilter("The phone's number"),
  to: numberFilter('Your number or short code'),
};

/** A number in a query: an unencoded plus arrives as a space. */
export function readFilter(number: string | undefined): string | undefined {
  const given = readNumberFilter(number);
  return given === undefined ? undefined : canonicalNumber(given);
}

export const optOutSchema = Type.Object(
  {
    number: Type.String({ description: 'Masked once the retention time is over' }),
    source: openValues('OptOutSource', optOutSources, { description: 'mo: a text of the person', example: 'api' }),
    word: nullable(Type.String({ description: 'What the person wrote' })),
    created_at: Type.String(),
  },
  { title: 'OptOut' },
);
export type OptOutRecord = Static<typeof optOutSchema>;

export function toOptOutRecord({ number, source, word, createdAtMs }: Omit<OptOut, 'id' | keyof Scope>): OptOutRecord {
  return { number, source, word, created_at: toTimestamp(createdAtMs) };
}
