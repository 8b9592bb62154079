import type { SampleRequest } from './request.ts';

/** A call of our clients. Each language writes it in its own way: names are those of Python here. */
export interface ClientCall {
  /** Like `sms.opt_outs.put`. */
  path: string;
  /** A record, a list that a loop reads, the feed, or nothing. */
  gives: 'one' | 'many' | 'events' | 'nothing';
  /** The name of the variable for the result. */
  name: string;
  args: unknown[];
  options: Record<string, unknown>;
}

type Make = (request: SampleRequest) => ClientCall;
type Values = (request: SampleRequest) => unknown[];

/** A call that gives one record. */
const one =
  (name: string, path: string, args: Values): Make =>
  (request) => ({ path, gives: 'one', name, args: args(request), options: keyOf(request) });

/** A list, read to its end. */
const many =
  (name: string, path: string): Make =>
  (request) => ({ path, gives: 'many', name, args: filters(request), options: {} });

const id: Values = ({ pathValues }) => [pathValues.id ?? ''];
const number: Values = ({ pathValues }) => [pathValues.number ?? ''];
const jsonOf = ({ body }: SampleRequest) => (body?.kind === 'json' ? (body.value as Record<string, unknown>) : {});
const whole: Values = (request) => [jsonOf(request)];
const field =
  (name: string): Values =>
  (request) => [jsonOf(request)[name]];
const idAndField =
  (name: string): Values =>
  (request) => [...id(request), ...field(name)(request)];

/** The client creates a key itself. A key that the reader entered is passed on. */
function keyOf({ headers }: SampleRequest): Record<string, unknown> {
  const key = headers.find(([name]) => name === 'Idempotency-Key')?.[1];
  return key === undefined ? {} : { idempotency_key: key };
}

function filters({ query }: SampleRequest): unknown[] {
  const wanted = query.filter(([name]) => name !== 'cursor').map(([name, value]) => [name, parameter(name, value)]);
  return wanted.length === 0 ? [] : [Object.fromEntries(wanted)];
}

function parameter(name: string, value: string): string | number {
  return ['limit', 'wait_seconds'].includes(name) ? Number(value) : value;
}

function feedOptions({ query }: SampleRequest): Record<string, unknown> {
  return Object.fromEntries(query.map(([name, value]) => [name, parameter(name, value)]));
}

/** The calls that both messaging APIs have. */
function messageCalls(api: 'sms' | 'messaging', ids: Record<MessageCall, string>): [string, Make][] {
  const remove = `${api}.opt_outs.remove`;
  return [
    [ids.send, one('message', `${api}.send`, whole)],
    [ids.list, many('message', `${api}.list`)],
    [ids.get, one('message', `${api}.get`, id)],
    [ids.cancel, one('message', `${api}.cancel`, id)],
    [ids.preview, one('preview', `${api}.preview`, field('message'))],
    [ids.listInbound, many('text', `${api}.inbound.list`)],
    [ids.getInbound, one('text', `${api}.inbound.get`, id)],
    [ids.listOptOuts, many('opt_out', `${api}.opt_outs.list`)],
    [ids.putOptOut, one('opt_out', `${api}.opt_outs.put`, number)],
    [ids.deleteOptOut, (request) => ({ path: remove, gives: 'nothing', name: '', args: number(request), options: {} })],
  ];
}

type MessageCall =
  | 'send'
  | 'list'
  | 'get'
  | 'cancel'
  | 'preview'
  | 'listInbound'
  | 'getInbound'
  | 'listOptOuts'
  | 'putOptOut'
  | 'deleteOptOut';

/** By operation id. An operation that is not here is shown by HTTP. */
const clientCalls = new Map<string, Make>([
  ['startVerification', one('verification', 'verify.start', whole)],
  ['listVerifications', many('verification', 'verify.list')],
  ['checkVerification', one('verification', 'verify.check', idAndField('code'))],
  ['checkNumber', one('verification', 'verify.check_number', whole)],
  ['putOutcome', one('verification', 'verify.outcome', idAndField('outcome'))],
  ['getVerification', one('verification', 'verify.get', id)],
  ['cancelVerification', one('verification', 'verify.cancel', id)],
  ['explainGuard', one('decision', 'verify.explain', field('to'))],
  ...messageCalls('sms', {
    send: 'sendSms',
    list: 'listSms',
    get: 'getSms',
    cancel: 'cancelSms',
    preview: 'previewSms',
    listInbound: 'listInboundSms',
    getInbound: 'getInboundSms',
    listOptOuts: 'listSmsOptOuts',
    putOptOut: 'putSmsOptOut',
    deleteOptOut: 'deleteSmsOptOut',
  }),
  ...messageCalls('messaging', {
    send: 'sendMessage',
    list: 'listMessages',
    get: 'getMessage',
    cancel: 'cancelMessage',
    preview: 'previewMessage',
    listInbound: 'listInboundMessages',
    getInbound: 'getInboundMessage',
    listOptOuts: 'listMessagingOptOuts',
    putOptOut: 'putMessagingOptOut',
    deleteOptOut: 'deleteMessagingOptOut',
  }),
  ['sendMessages', one('batch', 'messaging.send_batch', field('messages'))],
  [
    'listEvents',
    (request) => ({ path: 'sms.events.read', gives: 'one', name: 'page', args: [], options: feedOptions(request) }),
  ],
  [
    'streamEvents',
    (request) => ({
      path: 'sms.events.follow',
      gives: 'events',
      name: 'event',
      args: [],
      options: feedOptions(request),
    }),
  ],
]);

/** The call of our clients for an operation; undefined where they have none. */
export function clientCallOf(request: SampleRequest): ClientCall | undefined {
  if (request.credential.kind === 'cookie') return undefined;
  return clientCalls.get(request.operationId)?.(request);
}

/** The options of a client: the address, and the credential of the call. */
export function clientOptions({ baseUrl, credential }: SampleRequest): Record<string, string> {
  if (credential.kind === 'apikey') return { base_url: baseUrl, api_key: credential.apiKey };
  if (credential.kind !== 'token') return { base_url: baseUrl };
  return { base_url: baseUrl, client_id: credential.clientId, client_secret: credential.clientSecret };
}
