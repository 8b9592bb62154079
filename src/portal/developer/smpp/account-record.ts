import { type Static, Type } from 'typebox';
import { nullable, recordId } from '../../../http/list-page.ts';
import { timestampOrNull, toTimestamp } from '../../../platform/clock.ts';
import { type BindMode, bindModes } from '../../../smpp-server/account.ts';
import type { SmppAccountDetail } from '../../../smpp-server/account-service.ts';
import type { Problem, ShownBind } from '../../../smpp-server/bind.ts';
import { describeStatus } from '../../../smpp-server/status-words.ts';

export const bindSchema = Type.Object(
  {
    id: recordId('bnd'),
    mode: Type.Unsafe<BindMode>({ type: 'string', enum: [...bindModes], examples: ['transceiver'] }),
    address: Type.String({ description: 'Where it bound from', examples: ['203.0.113.7'] }),
    tls: Type.Boolean({ examples: [true] }),
    bound_at: Type.String(),
    submits: Type.Integer({ description: 'submit_sm so far, refused ones too', examples: [1200] }),
    throttled: Type.Integer({ description: 'submit_sm refused because of the limits of the plan', examples: [0] }),
    refused: Type.Integer({ description: 'submit_sm refused for another reason', examples: [2] }),
    delivered: Type.Integer({ description: 'deliver_sm that it acknowledged', examples: [1180] }),
    per_minute: Type.Integer({ description: 'submit_sm in the last whole minute', examples: [60] }),
  },
  { title: 'SmppBind' },
);

const problemSchema = Type.Object(
  {
    at: Type.String(),
    command: Type.String({
      description: 'The command of the request, or `bind`, or `connection`',
      examples: ['submit_sm'],
    }),
    status: Type.Integer({ description: 'command_status of its answer', examples: [11] }),
    status_name: Type.String({ examples: ['ESME_RINVDSTADR'] }),
    why: Type.String({
      description: 'What was wrong, and what would be right',
      examples: ['destination_addr must be digits, with a country code'],
    }),
  },
  { title: 'SmppProblem' },
);

export const accountSchema = Type.Object(
  {
    id: recordId('smp'),
    system_id: Type.String({ examples: ['hg0c4k1x9a2pmv7'] }),
    binds: Type.Integer({ description: 'How many binds it may have at a time', examples: [2] }),
    addresses: Type.Array(Type.String(), {
      description: 'Where it may bind from; empty for anywhere',
      examples: [['203.0.113.0/28']],
    }),
    created_at: Type.String(),
    passwords: Type.Array(
      Type.Object(
        { created_at: Type.String(), ends_at: nullable(Type.String({ description: 'Null for the newest' })) },
        { title: 'SmppPassword' },
      ),
      { description: 'In force now, newest first' },
    ),
    bound: Type.Array(bindSchema, { description: 'Its binds now, on all nodes, oldest first' }),
    waiting: Type.Object(
      {
        count: Type.Integer({ description: 'Receipts that wait for a receiver, at most 10000', examples: [0] }),
        since: nullable(Type.String()),
      },
      { title: 'SmppWaiting' },
    ),
    problems: Type.Array(problemSchema, { description: 'The last 20, newest first' }),
    settings: Type.Object(
      {
        host: Type.String({ examples: ['sms.example.com'] }),
        port: nullable(Type.Integer({ examples: [2775] })),
        tls_port: nullable(Type.Integer({ examples: [3550] })),
        version: Type.String({ examples: ['3.4'] }),
      },
      { title: 'SmppAddress', description: 'To hand to the other side; a port is null where it is not offered' },
    ),
  },
  { title: 'SmppAccount' },
);
export type SmppAccountRecord = Static<typeof accountSchema>;

export const newAccountSchema = Type.Object(
  {
    ...accountSchema.properties,
    password: Type.String({ description: 'Eight characters, shown only once', examples: ['a1B2c3D4'] }),
  },
  { title: 'NewSmppAccount' },
);
export type NewSmppAccountRecord = Static<typeof newAccountSchema>;

export interface AccountNow {
  bound: ShownBind[];
  problems: Problem[];
  waiting: { count: number; sinceMs: number | null };
}

export interface Offered {
  host: string;
  port: number | undefined;
  tlsPort: number | undefined;
}

export const emptyNow: AccountNow = { bound: [], problems: [], waiting: { count: 0, sinceMs: null } };

export function toAccount(account: SmppAccountDetail, now: AccountNow, offered: Offered): SmppAccountRecord {
  return {
    id: account.id,
    system_id: account.systemId,
    binds: account.binds,
    addresses: account.addresses,
    created_at: toTimestamp(account.createdAtMs),
    passwords: account.passwords.map(({ createdAtMs, endsAtMs }) => ({
      created_at: toTimestamp(createdAtMs),
      ends_at: timestampOrNull(endsAtMs),
    })),
    bound: now.bound.map(toBind),
    waiting: { count: now.waiting.count, since: timestampOrNull(now.waiting.sinceMs) },
    problems: now.problems.map(({ atMs, command, status, why }) => ({
      ...{ at: toTimestamp(atMs), command, status, why },
      status_name: describeStatus(status),
    })),
    settings: {
      host: offered.host,
      port: offered.port ?? null,
      tls_port: offered.tlsPort ?? null,
      version: '3.4',
    },
  };
}

export function toBind(bind: ShownBind): Static<typeof bindSchema> {
  const { id, mode, address, tls, boundAtMs, submits, throttled, refused, delivered, perMinute } = bind;
  return {
    ...{ id, mode, address, tls, submits, throttled, refused, delivered },
    bound_at: toTimestamp(boundAtMs),
    per_minute: perMinute,
  };
}
