import assert from 'node:assert/strict';
import type { Api } from '../../src/http/route.ts';
import { hexOf } from '../../src/platform/ids.ts';
import type { AskedRequest } from '../support/at-once.ts';

/** An application as its requests show it. */
export interface BurstCaller {
  url: string;
  sms: Record<string, string>;
  verify: Record<string, string>;
  messaging: Record<string, string>;
  /** With Twilio's credentials, and the application's id in its shape. */
  twilio: Record<string, string>;
  digits: string;
}

/** One way to use an operation with a whole burst. */
export interface BurstAct {
  operationId: string;
  /** How its requests differ, if the operation has several ways. */
  name: string;
  api: Api;
  /** Makes the records that the requests need, before the limits count. */
  prepare?: (caller: BurstCaller, count: number) => Promise<string[]>;
  request: (caller: BurstCaller, index: number, ids: string[]) => AskedRequest;
}

const numberOf = (index: number) => `+4478${String(index).padStart(8, '0')}`;
const text = (index: number) => ({ to: numberOf(index), from: 'ACME', message: 'Hello' });
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
const keyOf = (index: number) => ({ 'Idempotency-Key': `burst-${index}` });

async function post(url: string, path: string, headers: Record<string, string>, body: unknown): Promise<string> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { id } = (await answer.json()) as { id: string };
  assert.ok(answer.ok && id !== undefined, `${path} was ${answer.status}`);
  return id;
}

/** Some at a time, so that the preparation meets no bound itself. */
async function makeMany(count: number, make: (index: number) => Promise<string>): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const some = Math.min(50, count - ids.length);
    ids.push(...(await Promise.all(Array.from({ length: some }, (_, index) => make(ids.length + index)))));
  }
  return ids;
}

const started = (caller: BurstCaller, count: number) =>
  makeMany(count, (index) =>
    post(caller.url, '/verify/v1/verifications', caller.verify, { to: numberOf(index), channel: 'sms' }),
  );

const startedWithCodes = (caller: BurstCaller, count: number) =>
  makeMany(count, (index) =>
    post(caller.url, '/verify/v1/verifications', caller.verify, {
      to: numberOf(index),
      channel: 'sms',
      code: '482913',
    }),
  );

function textActs(api: 'sms' | 'messaging'): BurstAct[] {
  const base = `/${api}/v1`;
  const names =
    api === 'sms'
      ? { send: 'sendSms', preview: 'previewSms', list: 'listSms', get: 'getSms', cancel: 'cancelSms' }
      : {
          send: 'sendMessage',
          preview: 'previewMessage',
          list: 'listMessages',
          get: 'getMessage',
          cancel: 'cancelMessage',
        };
  const [inbound, one, optOut] =
    api === 'sms'
      ? ['listInboundSms', 'getInboundSms', 'SmsOptOut']
      : ['listInboundMessages', 'getInboundMessage', 'MessagingOptOut'];
  const path = `${base}/messages`;
  const scheduled = (caller: BurstCaller, count: number) =>
    makeMany(count, (index) => post(caller.url, path, caller[api], { ...text(index), send_at: tomorrow() }));
  const get = (operationId: string, name: string, pathOf: (index: number, ids: string[]) => string): BurstAct => ({
    operationId,
    name,
    api,
    request: (caller, index, ids) => ({ method: 'GET', path: pathOf(index, ids), headers: caller[api] }),
  });
  const act = (
    operationId: string,
    name: string,
    request: (index: number, ids: string[]) => Omit<AskedRequest, 'headers'> & { headers?: Record<string, string> },
  ): BurstAct => ({
    operationId,
    name,
    api,
    request: (caller, index, ids) => {
      const asked = request(index, ids);
      return { ...asked, headers: { ...caller[api], ...asked.headers } };
    },
  });
  const optOutPath = (index: number) => `${base}/opt-outs/${encodeURIComponent(numberOf(index))}`;
  return [
    act(names.send, 'different texts', (index) => ({ method: 'POST', path, body: text(index) })),
    act(names.send, 'with keys', (index) => ({ method: 'POST', path, body: text(index), headers: keyOf(index) })),
    act(names.preview, 'with keys', (index) => ({
      method: 'POST',
      path: `${path}/preview`,
      body: { message: 'Hello' },
      headers: keyOf(index),
    })),
    { ...get(names.list, 'equal ones', () => path), prepare: (caller) => scheduled(caller, 20) },
    get(names.list, 'different ones', (index) => `${path}?to=${encodeURIComponent(numberOf(index))}`),
    { ...get(names.get, 'one message', (_, [id]) => `${path}/${id}`), prepare: (caller) => scheduled(caller, 1) },
    {
      ...act(names.cancel, 'different messages', (index, ids) => ({ method: 'DELETE', path: `${path}/${ids[index]}` })),
      prepare: scheduled,
    },
    {
      ...act(names.cancel, 'one message', (_, [id]) => ({ method: 'DELETE', path: `${path}/${id}` })),
      prepare: (caller) => scheduled(caller, 1),
    },
    get(inbound, 'equal ones', () => `${base}/inbound`),
    get(inbound, 'different ones', (index) => `${base}/inbound?from=${encodeURIComponent(numberOf(index))}`),
    get(one, 'one that is not there', () => `${base}/inbound/inb_01jzzzzzzzzzzzzzzzzzzzzzzz`),
    get(`list${optOut}s`, 'different ones', (index) => `${base}/opt-outs?to=${encodeURIComponent(numberOf(index))}`),
    act(`put${optOut}`, 'different numbers', (index) => ({ method: 'PUT', path: optOutPath(index) })),
    act(`put${optOut}`, 'one number', () => ({ method: 'PUT', path: optOutPath(0) })),
    act(`delete${optOut}`, 'different numbers', (index) => ({ method: 'DELETE', path: optOutPath(index) })),
  ];
}

const base = '/verify/v1/verifications';
const verifyAct = (
  operationId: string,
  name: string,
  request: (index: number, ids: string[]) => Omit<AskedRequest, 'headers'> & { headers?: Record<string, string> },
  prepare?: BurstAct['prepare'],
): BurstAct => ({
  operationId,
  name,
  api: 'verify',
  ...(prepare && { prepare }),
  request: (caller, index, ids) => {
    const asked = request(index, ids);
    return { ...asked, headers: { ...caller.verify, ...asked.headers } };
  },
});
const wrong = { code: '000001' };
const oneStarted = (caller: BurstCaller) => started(caller, 1);
const start = (index: number) => ({ method: 'POST', path: base, body: { to: numberOf(index), channel: 'sms' } });

const verifyActs: BurstAct[] = [
  verifyAct('startVerification', 'different numbers', start),
  verifyAct('startVerification', 'one number', () => start(0)),
  verifyAct('startVerification', 'one number, with keys', (index) => ({ ...start(0), headers: keyOf(index) })),
  verifyAct(
    'checkVerification',
    'different verifications',
    (index, ids) => ({ method: 'POST', path: `${base}/${ids[index]}`, body: wrong }),
    started,
  ),
  verifyAct(
    'checkVerification',
    'different verifications, with keys',
    (index, ids) => ({ method: 'POST', path: `${base}/${ids[index]}`, body: wrong, headers: keyOf(index) }),
    started,
  ),
  verifyAct(
    'checkVerification',
    'one verification',
    (_, [id]) => ({ method: 'POST', path: `${base}/${id}`, body: wrong }),
    oneStarted,
  ),
  verifyAct(
    'checkVerification',
    'one verification, with keys',
    (index, [id]) => ({ method: 'POST', path: `${base}/${id}`, body: wrong, headers: keyOf(index) }),
    oneStarted,
  ),
  verifyAct(
    'checkNumber',
    'different numbers',
    (index) => ({ method: 'POST', path: '/verify/v1/checks', body: { to: numberOf(index), ...wrong } }),
    started,
  ),
  verifyAct(
    'checkNumber',
    'one number',
    () => ({ method: 'POST', path: '/verify/v1/checks', body: { to: numberOf(0), ...wrong } }),
    oneStarted,
  ),
  verifyAct(
    'putOutcome',
    'different verifications',
    (index, ids) => ({ method: 'PUT', path: `${base}/${ids[index]}/outcome`, body: { outcome: 'approved' } }),
    startedWithCodes,
  ),
  verifyAct('listVerifications', 'equal ones', () => ({ method: 'GET', path: base }), oneStarted),
  verifyAct('listVerifications', 'different ones', (index) => ({
    method: 'GET',
    path: `${base}?to=${encodeURIComponent(numberOf(index))}`,
  })),
  verifyAct('getVerification', 'one', (_, [id]) => ({ method: 'GET', path: `${base}/${id}` }), oneStarted),
  verifyAct(
    'cancelVerification',
    'different ones',
    (index, ids) => ({ method: 'DELETE', path: `${base}/${ids[index]}` }),
    started,
  ),
  verifyAct('cancelVerification', 'one', (_, [id]) => ({ method: 'DELETE', path: `${base}/${id}` }), oneStarted),
  verifyAct('explainGuard', 'different numbers', (index) => ({
    method: 'POST',
    path: '/verify/v1/guard/explain',
    body: { to: numberOf(index) },
  })),
  verifyAct('explainGuard', 'one number, with keys', (index) => ({
    method: 'POST',
    path: '/verify/v1/guard/explain',
    body: { to: numberOf(0) },
    headers: keyOf(index),
  })),
];

const batch: BurstAct = {
  operationId: 'sendMessages',
  name: 'two texts each',
  api: 'messaging',
  request: (caller, index) => ({
    method: 'POST',
    path: '/messaging/v1/messages/batch',
    headers: caller.messaging,
    body: { messages: [text(index), text(index)] },
  }),
};

const eventActs: BurstAct[] = [
  {
    operationId: 'listEvents',
    name: 'equal ones',
    api: 'sms',
    request: ({ sms }) => ({ method: 'GET', path: '/events/v1/events', headers: sms }),
  },
  {
    operationId: 'streamEvents',
    name: 'five open, the others 409',
    api: 'sms',
    request: ({ sms }) => ({ method: 'GET', path: '/events/v1/stream', headers: sms }),
  },
];

const form = (fields: Record<string, string>) => new URLSearchParams(fields);
const scheduledSms = (caller: BurstCaller, count: number) =>
  makeMany(count, (index) => post(caller.url, '/sms/v1/messages', caller.sms, { ...text(index), send_at: tomorrow() }));

function twilioAct(
  operationId: string,
  name: string,
  act: Pick<BurstAct, 'api' | 'prepare'> & {
    request: (digits: string, index: number, ids: string[]) => Omit<AskedRequest, 'headers'>;
  },
): BurstAct {
  const { request, ...more } = act;
  const ask: BurstAct['request'] = ({ digits, twilio }, index, ids) => {
    const { path, ...asked } = request(digits, index, ids);
    return { ...asked, path: `/twilio${path}`, headers: twilio };
  };
  return { operationId, name, ...more, request: ask };
}
const serviceOf = (digits: string) => `/v2/Services/VA${digits}`;
const messagesOf = (digits: string) => `/2010-04-01/Accounts/AC${digits}/Messages`;
const twilioStart = (digits: string, index: number) => ({
  method: 'POST',
  path: `${serviceOf(digits)}/Verifications`,
  body: form({ To: numberOf(index), Channel: 'sms' }),
});

const twilioActs: BurstAct[] = [
  twilioAct('twilioStartVerification', 'different numbers', { api: 'verify', request: twilioStart }),
  twilioAct('twilioStartVerification', 'one number', {
    api: 'verify',
    request: (digits) => twilioStart(digits, 0),
  }),
  twilioAct('twilioGetVerification', 'by number', {
    api: 'verify',
    prepare: oneStarted,
    request: (digits) => ({
      method: 'GET',
      path: `${serviceOf(digits)}/Verifications/${encodeURIComponent(numberOf(0))}`,
    }),
  }),
  twilioAct('twilioUpdateVerification', 'different ones', {
    api: 'verify',
    prepare: started,
    request: (digits, index, ids) => ({
      method: 'POST',
      path: `${serviceOf(digits)}/Verifications/VE${hexOf(ids[index] ?? '')}`,
      body: form({ Status: 'canceled' }),
    }),
  }),
  twilioAct('twilioCheckVerification', 'one number', {
    api: 'verify',
    prepare: oneStarted,
    request: (digits) => ({
      method: 'POST',
      path: `${serviceOf(digits)}/VerificationCheck`,
      body: form({ To: numberOf(0), Code: wrong.code }),
    }),
  }),
  twilioAct('twilioCreateMessage', 'with callbacks', {
    api: 'sms',
    request: (digits, index) => ({
      method: 'POST',
      path: `${messagesOf(digits)}.json`,
      body: form({ To: numberOf(index), From: 'ACME', Body: 'Hello', StatusCallback: 'http://127.0.0.1:9/' }),
    }),
  }),
  twilioAct('twilioListMessages', 'equal ones', {
    api: 'sms',
    prepare: (caller) => scheduledSms(caller, 20),
    request: (digits) => ({ method: 'GET', path: `${messagesOf(digits)}.json` }),
  }),
  twilioAct('twilioGetMessage', 'one message', {
    api: 'sms',
    prepare: (caller) => scheduledSms(caller, 1),
    request: (digits, _, [id]) => ({ method: 'GET', path: `${messagesOf(digits)}/SM${hexOf(id ?? '')}.json` }),
  }),
  twilioAct('twilioUpdateMessage', 'different messages', {
    api: 'sms',
    prepare: scheduledSms,
    request: (digits, index, ids) => ({
      method: 'POST',
      path: `${messagesOf(digits)}/SM${hexOf(ids[index] ?? '')}.json`,
      body: form({ Status: 'canceled' }),
    }),
  }),
];

/** Every operation of the three APIs, of their events and of Twilio's shape, in each way that takes another path. */
export const burstActs: BurstAct[] = [
  ...[...textActs('sms'), ...textActs('messaging'), batch],
  ...[...verifyActs, ...eventActs, ...twilioActs],
];
