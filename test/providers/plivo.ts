// Plivo as documented: https://www.plivo.com/docs/messaging/api/messages/, …/messaging/concepts/signature-validation
import { createHmac } from 'node:crypto';
import { formCall, type Provider, type ProviderCall } from './call.ts';

const [id, token] = ['MAXXXXXXXXXXXXXXXXXX', 'plivo-token-Zq7'];
let given = 0;

const nonce = '05429567804466091622';
const hmac = (text: string) => createHmac('sha256', token).update(text).digest('base64');

/** V2 covers the address without its query, and a nonce. */
function signed(url: string, fields: Record<string, string>): ProviderCall {
  const signature = hmac(`${url.split('?')[0]}${nonce}`);
  return formCall(url, fields, { 'x-plivo-signature-v2': signature, 'x-plivo-signature-v2-nonce': nonce });
}

/** With V3 beside it, which covers the parameters too. Of a subaccount, only the main account's has our token. */
function signedTwice(url: string, fields: Record<string, string>): ProviderCall {
  const { headers, ...call } = signed(url, fields);
  const written = Object.entries(fields)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flat();
  const better = {
    'x-plivo-signature-v3': 'AAAA',
    'x-plivo-signature-ma-v3': hmac(`${url}?${written.join('')}.${nonce}`),
    'x-plivo-signature-v3-nonce': nonce,
  };
  return { ...call, headers: { ...headers, ...better } };
}

interface Sent {
  src: string;
  dst: string;
  text: string;
  url: string;
  method: string;
}

export const plivo: Provider = {
  preset: 'plivo',
  settings: { auth_id: id, auth_token: token },
  wrong: { auth_token: 'another' },
  secrets: [token],
  recorded: {
    path: `/v1/Account/${id}/Message/`,
    fields: { src: 'ACME', dst: '447700900123', text: 'Hi € {{to}}', type: 'sms', method: 'POST' },
  },
  fieldsOf({ body }) {
    const { url: _, ...rest } = JSON.parse(body) as Sent;
    return rest;
  },
  answer({ headers }) {
    if (headers.authorization !== `Basic ${Buffer.from(`${id}:${token}`).toString('base64')}`)
      return { status: 401, body: 'Could not verify your access level for that URL.' };
    const uuid = `db3ce55a-7f1d-11e1-8ea7-${String(++given).padStart(12, '0')}`;
    return {
      status: 202,
      body: { message: 'message(s) queued', message_uuid: [uuid], api_id: 'db342550-7f1d-11e1-8ea7-1231380bc196' },
    };
  },
  taken({ body }, answer) {
    const { src, dst, text, url } = JSON.parse(body) as Sent;
    const { message_uuid: uuids } = answer.body as { message_uuid: string[] };
    return {
      id: uuids[0] ?? '',
      ours: new URL(url).searchParams.get('m') ?? '',
      to: dst,
      from: src,
      text,
      callback: url,
    };
  },
  refusals: [
    {
      what: '400',
      answer: { status: 400, body: { api_id: 'a', error: 'dst is invalid' } },
      status: 'failed',
      error: 'blocked_by_carrier',
    },
  ],
  throttled: { status: 429, headers: { 'Retry-After': '1' }, body: { error: 'throttled' } },
  receipt: ({ id: uuid, to, from }, { url, state, error, part = '1 of 1' }) =>
    signed(url, {
      From: from,
      To: to,
      MessageUUID: `${uuid.slice(0, -2)}${part.slice(0, 1)}f`,
      ParentMessageUUID: uuid,
      PartInfo: part,
      Status: state,
      Units: '1',
      TotalRate: '0.0035',
      TotalAmount: '0.0035',
      MCC: '234',
      MNC: '10',
      ...(error !== undefined && { ErrorCode: error }),
    }),
  states: [
    { state: 'undelivered', error: '80', status: 'undelivered', code: 'unreachable' },
    { state: 'undelivered', error: '50', status: 'undelivered', code: 'invalid_destination' },
    { state: 'failed', error: '200', status: 'failed', code: 'blocked_by_recipient' },
    { state: 'rejected', error: '40', status: 'failed', code: 'sender_rejected' },
    { state: 'delivered', status: 'delivered' },
  ],
  forgeries: {
    'no signature': (call) => ({ ...call, headers: { 'content-type': call.headers['content-type'] ?? '' } }),
    'another nonce': (call) => ({ ...call, headers: { ...call.headers, 'x-plivo-signature-v2-nonce': '1' } }),
    'a better signature that is wrong': (call) => ({
      ...call,
      headers: { ...call.headers, 'x-plivo-signature-v3': 'AAAA', 'x-plivo-signature-v3-nonce': '1' },
    }),
  },
  inbound: (url) =>
    signedTwice(url, { From: '447700900999', To: '447700900001', Type: 'sms', Text: 'STOP & go', MessageUUID: 'in1' }),
  inboundForgeries: {
    'V2 alone, of the same callback': ({ url, body = '', ...call }) => ({
      ...call,
      ...signed(url, Object.fromEntries(new URLSearchParams(body))),
    }),
    'V2 alone, with another text and phone': ({ url, body = '' }) =>
      signed(url, { ...Object.fromEntries(new URLSearchParams(body)), From: '447700900998', Text: 'START' }),
    'another text under the same signatures': (call) => ({ ...call, body: call.body?.replace('STOP', 'START') }),
  },
};
