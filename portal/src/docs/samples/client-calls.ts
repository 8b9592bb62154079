import { javascriptString, javascriptValue } from './literals.ts';
import type { SampleRequest } from './request.ts';

/** The statement that calls an operation with our client. */
type Call = (request: SampleRequest) => string;

/** A call that resolves to one record. */
const one =
  (name: string, path: string, args: (request: SampleRequest) => string[]): Call =>
  (request) =>
    `const ${name} = await heliograph.${path}(${args(request).join(', ')});\nconsole.log(${name});`;

/** A list, read to its end. */
const many =
  (item: string, path: string): Call =>
  (request) =>
    `for await (const ${item} of heliograph.${path}(${filters(request)})) {\n  console.log(${item});\n}`;

const id = ({ pathValues: { id: given = '' } }: SampleRequest) => javascriptString(given);
const number = ({ pathValues: { number: given = '' } }: SampleRequest) => javascriptString(given);
const jsonOf = ({ body }: SampleRequest) => (body?.kind === 'json' ? (body.value as Record<string, unknown>) : {});
const whole = (request: SampleRequest) => javascriptValue(jsonOf(request));
const field = (name: string) => (request: SampleRequest) => javascriptValue(jsonOf(request)[name]);

/** The client creates a key itself. A key that the reader entered is passed on. */
function options({ headers }: SampleRequest): string[] {
  const key = headers.find(([name]) => name === 'Idempotency-Key')?.[1];
  return key === undefined ? [] : [`{ idempotencyKey: ${javascriptString(key)} }`];
}

function filters({ query }: SampleRequest): string {
  const wanted = query.filter(([name]) => name !== 'cursor').map(([name, value]) => [name, parameter(name, value)]);
  return wanted.length === 0 ? '' : javascriptValue(Object.fromEntries(wanted));
}

function parameter(name: string, value: string): string | number {
  return ['limit', 'wait_seconds'].includes(name) ? Number(value) : value;
}

function feedOptions(request: SampleRequest): string {
  const names: Record<string, string> = { wait_seconds: 'waitSeconds' };
  const wanted = request.query.map(([name, value]) => [names[name] ?? name, parameter(name, value)]);
  return wanted.length === 0 ? '' : javascriptValue(Object.fromEntries(wanted));
}

const withOptions = (args: (request: SampleRequest) => string[]) => (request: SampleRequest) => [
  ...args(request),
  ...options(request),
];

/** The calls that both messaging APIs have. */
function messageCalls(api: 'sms' | 'messaging', ids: Record<MessageCall, string>): [string, Call][] {
  return [
    [
      ids.send,
      one(
        'message',
        `${api}.send`,
        withOptions((request) => [whole(request)]),
      ),
    ],
    [ids.list, many('message', `${api}.list`)],
    [ids.get, one('message', `${api}.get`, (request) => [id(request)])],
    [ids.cancel, one('message', `${api}.cancel`, (request) => [id(request)])],
    [
      ids.preview,
      one(
        'preview',
        `${api}.preview`,
        withOptions((request) => [field('message')(request)]),
      ),
    ],
    [ids.listInbound, many('text', `${api}.inbound.list`)],
    [ids.getInbound, one('text', `${api}.inbound.get`, (request) => [id(request)])],
    [ids.listOptOuts, many('optOut', `${api}.optOuts.list`)],
    [ids.putOptOut, one('optOut', `${api}.optOuts.put`, (request) => [number(request)])],
    [ids.deleteOptOut, (request) => `await heliograph.${api}.optOuts.remove(${number(request)});`],
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

/** By operation id. An operation that is not here is shown with `fetch`. */
export const clientCalls = new Map<string, Call>([
  [
    'startVerification',
    one(
      'verification',
      'verify.start',
      withOptions((request) => [whole(request)]),
    ),
  ],
  ['listVerifications', many('verification', 'verify.list')],
  [
    'checkVerification',
    one(
      'verification',
      'verify.check',
      withOptions((request) => [id(request), field('code')(request)]),
    ),
  ],
  ['getVerification', one('verification', 'verify.get', (request) => [id(request)])],
  ['cancelVerification', one('verification', 'verify.cancel', (request) => [id(request)])],
  [
    'explainGuard',
    one(
      'decision',
      'verify.explain',
      withOptions((request) => [field('to')(request)]),
    ),
  ],
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
  [
    'sendMessages',
    one(
      'batch',
      'messaging.sendBatch',
      withOptions((request) => [field('messages')(request)]),
    ),
  ],
  ['listEvents', (request) => one('page', 'sms.events.read', () => [feedOptions(request)])(request)],
  [
    'streamEvents',
    (request) =>
      `for await (const event of heliograph.sms.events.follow(${feedOptions(request)})) {\n  console.log(event.type, event.data);\n}`,
  ],
]);
