import assert from 'node:assert/strict';
import type { Api } from '../../src/http/route.ts';
import type { AskedRequest } from '../support/at-once.ts';

/** An application as its requests show it. */
export interface BurstCaller {
  url: string;
  sms: Record<string, string>;
  verify: Record<string, string>;
  messaging: Record<string, string>;
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

/** Every operation of the three APIs and of their events, in each way that takes another path through the service. */
export const burstActs: BurstAct[] = [...textActs('sms'), ...textActs('messaging'), batch, ...verifyActs, ...eventActs];
