import { type Static, Type } from 'typebox';
import { charsets } from '../../smpp/charset.ts';
import { errorMaps } from '../../smpp/receipt-errors.ts';

const text = (maxLength: number, description?: string) =>
  Type.String({ maxLength, ...(description && { description }) });
const tonNpi = Type.Object({
  ton: Type.Integer({ minimum: 0, maximum: 255 }),
  npi: Type.Integer({ minimum: 0, maximum: 255 }),
});
const idForm = Type.Union([Type.Literal('exact'), Type.Literal('hex'), Type.Literal('dec')], { default: 'exact' });
const port = Type.Integer({ minimum: 1, maximum: 65_535, default: 2775 });
const certificate = Type.Optional(text(16_384, 'PEM'));

export const longForms = ['udh16', 'udh8', 'sar', 'payload'] as const;
/** One of these names. TypeBox infers nothing from a mapped list, so the type is written out. */
const literals = <Name extends string>(names: readonly Name[], byDefault?: Name, description?: string) =>
  Type.Unsafe<Name>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      { ...(byDefault && { default: byDefault }), ...(description && { description }) },
    ),
  );

/** Settings of a carrier of kind `smpp`, as operators write them and as they are shown. */
export const smppSettingsSchema = Type.Object(
  {
    host: text(253),
    port,
    hosts: Type.Array(Type.Object({ host: text(253), port }, { additionalProperties: false }), {
      maxItems: 16,
      default: [],
      description: 'Further addresses, tried in turn',
    }),
    local_address: Type.Optional(text(45)),
    tls: Type.Union(
      [
        Type.Literal(false),
        Type.Object(
          { ca: certificate, cert: certificate, key: certificate, servername: Type.Optional(text(253)) },
          { additionalProperties: false },
        ),
      ],
      { default: false },
    ),
    system_id: text(15),
    /** Never shown: `password_set` says whether there is one. */
    password: Type.Optional(text(16)),
    system_type: Type.String({ maxLength: 12, default: '' }),
    service_type: Type.String({ maxLength: 5, default: '' }),
    address_range: Type.String({ maxLength: 40, default: '' }),
    bind: Type.Union([Type.Literal('transceiver'), Type.Literal('pair')], { default: 'transceiver' }),
    binds: Type.Integer({ minimum: 1, maximum: 32, default: 1 }),
    window: Type.Integer({ minimum: 1, maximum: 1000, default: 10, description: 'Unanswered submits on each bind' }),
    per_second: Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 100_000 }), Type.Null()], {
      default: null,
      description: 'Parts a second of the whole account, over all binds and nodes',
    }),
    validity: literals(['relative', 'absolute', 'none'], 'relative'),
    utc_offset: Type.String({ maxLength: 6, default: '+00:00' }),
    validity_min_seconds: Type.Integer({ minimum: 0, maximum: 259_200, default: 0 }),
    tlvs: Type.Array(
      Type.Object(
        { tag: Type.Integer({ minimum: 0, maximum: 65_535 }), value: text(255) },
        { additionalProperties: false },
      ),
      { maxItems: 16, default: [] },
    ),
    on_doubt: Type.Optional(literals(['resend', 'hold'])),
    on_doubt_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 259_200 })),
    charsets: Type.Array(literals(charsets), { minItems: 1, maxItems: 6, default: ['gsm7/0', 'ucs2/8'] }),
    long_messages: literals(longForms, 'udh16'),
    ton_npi: Type.Object(
      {
        international: Type.Optional(tonNpi),
        alphanumeric: Type.Optional(tonNpi),
        short_code: Type.Optional(tonNpi),
        national: Type.Optional(tonNpi),
        destination: Type.Optional(tonNpi),
      },
      { additionalProperties: false, default: {} },
    ),
    message_id: Type.Object({ response: idForm, receipt: idForm }, { additionalProperties: false, default: {} }),
    receipts: literals(['all', 'first', 'last', 'one', 'none'], 'all'),
    sniff: Type.Boolean({ default: false, description: 'Treat a text that looks like a receipt as a receipt' }),
    opt_out_replies: literals(['own', 'carrier'], 'own', 'Who answers people that text a stop, start or help word'),
    trusted_sender: Type.Optional(
      Type.Boolean({
        description: 'Whether the network guarantees the sender of a text, so that a text can approve a verification',
      }),
    ),
    enquire_link_seconds: Type.Integer({ minimum: 1, maximum: 3600, default: 30 }),
    response_seconds: Type.Integer({ minimum: 1, maximum: 120, default: 30 }),
    submit_errors: Type.Record(text(10), text(32), {
      maxProperties: 256,
      default: {},
      description:
        'What a command_status means here: throttled, retry:<code>, elsewhere:<code> or never:<code>, ' +
        'like {"0x0000000b": "never:invalid_destination"}',
    }),
    errors: Type.Union([literals(errorMaps), Type.Record(text(10), text(32), { maxProperties: 256 }), Type.Null()], {
      default: null,
      expected: `null, ${errorMaps.join(', ')}, or a map of codes to error codes`,
      description: 'What the codes in its receipts mean: a known list, or its own codes with our error codes',
    }),
  },
  { additionalProperties: false },
);

export type SmppSettings = Static<typeof smppSettingsSchema>;
