import { type Static, Type } from 'typebox';
import { type MessageErrorCode, messageErrorCodes } from '../../messages/message.ts';
import { proofSchema } from './callbacks/proof-settings.ts';

const text = (maxLength = 512) => Type.String({ maxLength });
const path = Type.String({
  maxLength: 256,
  description: 'A path in JSON: names and indexes separated by dots, * for every entry of a list',
});
const literals = <Name extends string>(names: readonly Name[], options: object = {}) =>
  Type.Unsafe<Name>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      { expected: `one of ${names.join(', ')}`, ...options },
    ),
  );
const errorCode = literals<MessageErrorCode>(messageErrorCodes);
const closed = { additionalProperties: false };
const statusList = Type.Array(Type.Integer({ minimum: 100, maximum: 599 }), { maxItems: 32 });
const written = Type.Union([
  Type.String({ maxLength: 128 }),
  Type.Number({ minimum: -1e15, maximum: 1e15 }),
  Type.Boolean(),
]);

/** An answer fits if its status and the value at the path are listed; a missing list fits every answer. */
const condition = {
  status: Type.Optional(statusList),
  path: Type.Optional(path),
  in: Type.Optional(Type.Array(written, { maxItems: 100 })),
};

/**
 * The meaning of an answer for its text. `never`: refused for good. `elsewhere`: another carrier may take it. `retry`:
 * later. `account`: the account is refused, so the carrier pauses. `in_doubt`: the text may have been sent.
 */
export const errorClasses = ['never', 'elsewhere', 'retry', 'throttled', 'account', 'in_doubt'] as const;

const authSchema = Type.Object(
  {
    kind: literals(['header', 'basic', 'bearer', 'query', 'body', 'oauth2', 'jwt-rs256']),
    name: Type.Optional(text(64)),
    value: Type.Optional(text()),
    user: Type.Optional(text()),
    password: Type.Optional(text()),
    token_url: Type.Optional(text()),
    scope: Type.Optional(text()),
  },
  closed,
);

const answerSchema = Type.Object({ type: text(64), body: text(512) }, closed);
const only = Type.Object({ path, in: Type.Array(written, { minItems: 1, maxItems: 100 }) }, closed);
const stateNames = ['delivered', 'undelivered', 'expired', 'failed', 'unknown', 'pending'] as const;

/**
 * A GET by which the provider learns that the address is ours: `query` is the parameter with our secret, `answer` the one
 * to repeat.
 */
const handshakeSchema = Type.Object({ query: text(64), secret: text(64), answer: text(64) }, closed);

const receiptSchema = Type.Object(
  {
    format: Type.Optional(literals(['json', 'form', 'query'])),
    list: Type.Optional(path),
    only: Type.Optional(only),
    id: path,
    part: Type.Optional(path),
    reference: Type.Optional(path),
    to: Type.Optional(path),
    state: Type.Object({ path, map: Type.Record(text(64), literals(stateNames), { maxProperties: 100 }) }, closed),
    error: Type.Optional(Type.Object({ path, map: Type.Record(text(64), errorCode, { maxProperties: 300 }) }, closed)),
    verify: proofSchema,
    handshake: Type.Optional(handshakeSchema),
    answer: Type.Optional(answerSchema),
  },
  closed,
);

const inboundSchema = Type.Object(
  {
    format: Type.Optional(literals(['json', 'form', 'query'])),
    list: Type.Optional(path),
    only: Type.Optional(only),
    id: Type.Optional(path),
    from: path,
    to: path,
    text: path,
    part: Type.Optional(Type.Object({ reference: path, part: path, total: path }, closed)),
    verify: proofSchema,
    answer: Type.Optional(answerSchema),
  },
  closed,
);

/** Describes a provider's HTTP API as data, so that a new provider needs no code. */
export const descriptionSchema = Type.Object(
  {
    url: Type.String({ maxLength: 1024 }),
    method: Type.Optional(literals(['POST', 'GET'])),
    headers: Type.Optional(Type.Record(text(64), text(), { maxProperties: 16 })),
    auth: Type.Optional(authSchema),
    query: Type.Optional(Type.Record(text(64), text(), { maxProperties: 32 })),
    form: Type.Optional(
      Type.Record(
        text(64),
        Type.Union([text(), Type.Array(text(), { maxItems: 8 })], { expected: 'a text, or a list of texts' }),
        { maxProperties: 32 },
      ),
    ),
    languages: Type.Optional(
      Type.Record(Type.String({ maxLength: 16, pattern: '^[a-z]{2,3}(?:-[A-Z][a-z]{3})?$' }), text(64), {
        minProperties: 1,
        maxProperties: 100,
        additionalProperties: false,
        description: "The provider's names for our languages, like de: de-DE",
      }),
    ),
    json: Type.Optional(
      Type.Unsafe<unknown>({
        type: ['object', 'array'],
        maxProperties: 50,
        maxItems: 50,
        items: { type: ['object', 'string'], maxProperties: 50, maxLength: 1024 },
        expected: 'an object or a list',
      }),
    ),
    answer: Type.Optional(literals(['json', 'text'])),
    separator: Type.Optional(Type.String({ minLength: 1, maxLength: 4 })),
    accepted: Type.Array(Type.Object(condition, closed), { minItems: 1, maxItems: 16 }),
    id: Type.Optional(path),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            ...condition,
            class: literals(errorClasses),
            code: Type.Optional(errorCode),
            after: Type.Optional(text(128)),
          },
          closed,
        ),
        { maxItems: 100 },
      ),
    ),
    told: Type.Optional(
      Type.Object(
        {
          parts: Type.Optional(path),
          price: Type.Optional(path),
          currency: Type.Optional(path),
          network: Type.Optional(path),
        },
        closed,
      ),
    ),
    receipt: Type.Optional(receiptSchema),
    inbound: Type.Optional(inboundSchema),
  },
  closed,
);

export type Description = Static<typeof descriptionSchema>;
export type FormValue = NonNullable<Description['form']>[string];
export type ReceiptDescription = NonNullable<Description['receipt']>;
export type InboundDescription = NonNullable<Description['inbound']>;
