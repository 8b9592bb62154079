import { type Static, Type } from 'typebox';
import { type CarrierBind, stateOf } from '../../delivery/carrier/bind-store.ts';
import { httpSettingsSchema } from '../../delivery/http/settings.ts';
import type { LiveCarrier } from '../../delivery/setup/service.ts';
import type { TestReport } from '../../delivery/setup/test-service.ts';
import { smppSettingsSchema } from '../../delivery/smpp/settings.ts';
import { nullable, pathParameter, recordId } from '../../http/list-page.ts';
import { itemKeyword } from '../../http/request/validation.ts';
import { maskNumber } from '../../messages/numbers/phone-number.ts';
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';

export const carriersPath = '/portal/v1/operator/carriers';
export const carrierParams = Type.Object({ name: pathParameter });
/** Shared by all carrier routes. */
export const carrierRoute = { auth: { kind: 'operator' }, tag: 'Developer portal: carriers' } as const;

const { password: _, tls, ...shownProperties } = smppSettingsSchema.properties;
const shownSmppSettings = Type.Object(
  {
    ...shownProperties,
    password_set: Type.Boolean({ description: 'Whether there is a password; it is never shown' }),
    tls: Type.Unsafe({ ...tls, description: 'Instead of the private key, key_set says whether there is one' }),
  },
  { title: 'SmppSettings' },
);
/** A secret is shown as `…_set`, like `auth_token_set`. */
const { secrets: _secrets, ...shownHttpProperties } = httpSettingsSchema.properties;
const shownHttpSettings = Type.Object(shownHttpProperties, { title: 'HttpSettings' });

/** The settings as stored: with the defaults, without secrets. */
const settingsExample = {
  ...Object.fromEntries(
    Object.entries(shownProperties).flatMap(([name, each]) => ('default' in each ? [[name, each.default]] : [])),
  ),
  host: 'smsc.example.com',
  system_id: 'acme',
  password_set: true,
  tls: false,
  message_id: { response: 'exact', receipt: 'exact' },
};

export const bindSchema = Type.Object(
  {
    slot: Type.Integer(),
    node: Type.String(),
    state: Type.String({
      examples: ['bound'],
      description: 'connecting, binding, bound, degraded, waiting, unbinding or stopped; of http: ready or failing',
    }),
    mode: Type.String({ examples: ['transceiver'], description: 'transceiver, pair or http' }),
    host: nullable(Type.String()),
    since: Type.String(),
    error: nullable(Type.String({ description: 'Why it is not bound' })),
    next_try_at: nullable(Type.String()),
  },
  { title: 'CarrierBind' },
);

export const carrierSchema = Type.Object(
  {
    name: Type.String({ examples: ['acme'] }),
    kind: Type.String({ description: 'smpp or http', examples: ['smpp'] }),
    paused: Type.Boolean(),
    state: Type.String({ examples: ['up'], description: 'up, degraded, down, or not_running: no worker runs it' }),
    binds: Type.Array(bindSchema),
    callbacks: nullable(
      Type.Object(
        {
          receipts: Type.String({ examples: ['https://sms.example.com/carriers/v1/acme/receipts/Zk3pQ7'] }),
          inbound: Type.String({ examples: ['https://sms.example.com/carriers/v1/acme/inbound/Zk3pQ7'] }),
        },
        {
          description:
            'Where the provider of an http carrier reports. Each address has a token in it: keep them secret',
        },
      ),
    ),
    hint: nullable(Type.String({ description: 'The setting to change, if receipts match no text' })),
    // Stored without secrets, so that it can be shown whole.
    settings: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      [itemKeyword]: Type.Union([shownSmppSettings, shownHttpSettings], { examples: [settingsExample] }),
    }),
    version: Type.Integer({ examples: [1], description: 'Rises with each change' }),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
  { title: 'Carrier' },
);
export type CarrierRecord = Static<typeof carrierSchema>;

export function toCarrier(carrier: LiveCarrier): CarrierRecord {
  const { name, kind, paused, binds, callbacks, settings, version, createdAtMs, updatedAtMs } = carrier;
  return {
    name,
    kind,
    paused,
    state: stateOf(binds, Number(settings.binds)),
    binds: binds.map(toBind),
    callbacks,
    hint: binds.find(({ hint }) => typeof hint === 'string')?.hint ?? null,
    settings,
    version,
    created_at: toTimestamp(createdAtMs),
    updated_at: toTimestamp(updatedAtMs),
  };
}

export function toBind({ slot, node, state, mode, host, sinceMs, error, nextTryAtMs }: CarrierBind) {
  return {
    slot,
    node,
    state,
    mode,
    host,
    since: toTimestamp(sinceMs),
    error,
    next_try_at: timestampOrNull(nextTryAtMs),
  };
}

export const testSchema = Type.Object(
  {
    id: recordId('tst'),
    status: Type.String({ examples: ['passed'], description: 'waiting, running, passed or failed' }),
    to: Type.String({ description: 'The last digits of the number', examples: ['+44•••••••123'] }),
    steps: Type.Array(
      Type.Object({
        step: Type.String({ examples: ['bind'], description: 'name, connection, tls, bind, text or receipt' }),
        ok: Type.Boolean(),
        detail: Type.String(),
        took_ms: Type.Integer(),
      }),
    ),
    error: nullable(Type.String({ description: 'Why the test ended without a last step' })),
    created_at: Type.String(),
    finished_at: nullable(Type.String()),
  },
  { title: 'CarrierTest' },
);

export function toTest({ id, status, to, steps, error, createdAtMs, finishedAtMs }: TestReport) {
  return {
    id,
    status,
    to: maskNumber(to),
    steps: steps.map(({ step, ok, detail, tookMs }) => ({ step, ok, detail, took_ms: Math.round(tookMs) })),
    error,
    created_at: toTimestamp(createdAtMs),
    finished_at: timestampOrNull(finishedAtMs),
  };
}

export const logEntrySchema = Type.Object(
  {
    at: Type.String(),
    node: Type.String(),
    slot: Type.Integer(),
    direction: Type.String({ examples: ['out'], description: 'in or out' }),
    command: Type.String({ examples: ['submit_sm'] }),
    status: Type.Integer({ description: 'command_status' }),
    sequence: Type.Integer(),
    message_id: nullable(Type.String({ description: 'Our id' })),
    carrier_message_id: nullable(Type.String({ description: 'The id that the carrier gave' })),
    number_ends: nullable(Type.String({ description: 'The last three digits of the phone number' })),
    reported: nullable(
      Type.String({
        examples: ['0x45: submit failed'],
        description: 'The error of an answer, or the state and error of a receipt, in the carrier’s own words',
      }),
    ),
    meaning: nullable(
      Type.String({
        examples: ['undelivered, absent subscriber'],
        description: 'What the words of a receipt mean; null if that is not known',
      }),
    ),
  },
  { title: 'CarrierLogEntry' },
);
