// Telnyx as documented: https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks, …/error-codes
import { generateKeyPairSync, sign } from 'node:crypto';
import { jsonCall, type Provider, type ProviderCall, respelled } from './call.ts';

const key = 'KEY-telnyx-Zq7';
const pair = generateKeyPairSync('ed25519');
const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
let given = 0;

function signed(url: string, value: unknown, nowMs: number): ProviderCall {
  const time = String(Math.floor(nowMs / 1000));
  const call = jsonCall(url, value);
  const signature = sign(null, Buffer.from(`${time}|${call.body}`), pair.privateKey).toString('base64');
  return { ...call, headers: { ...call.headers, 'telnyx-signature-ed25519': signature, 'telnyx-timestamp': time } };
}

const refusal = (status: number, code: string) => ({
  status,
  body: { errors: [{ code, title: 'As documented', detail: 'As documented.' }] },
});

interface Sent {
  from: string;
  to: string;
  text: string;
  webhook_url: string;
}

export const telnyx: Provider = {
  preset: 'telnyx',
  settings: { api_key: key, public_key: publicKey, messaging_profile_id: 'p-1' },
  wrong: { api_key: 'another' },
  secrets: [key],
  recorded: {
    path: '/v2/messages',
    fields: {
      from: 'ACME',
      to: '+447700900123',
      text: 'Hi € {{to}}',
      messaging_profile_id: 'p-1',
      use_profile_webhooks: false,
    },
  },
  fieldsOf({ body }) {
    const { webhook_url: _, ...rest } = JSON.parse(body) as Sent;
    return rest;
  },
  answer({ headers, body }) {
    if (headers.authorization !== `Bearer ${key}`) return refusal(401, '10009');
    const { from, to, text } = JSON.parse(body) as Sent;
    const id = `40385f64-5717-4562-b3fc-${String(++given).padStart(12, '0')}`;
    const data = {
      record_type: 'message',
      id,
      direction: 'outbound',
      to: [{ phone_number: to, status: 'queued' }],
      from,
      text,
      parts: 1,
      cost: null,
    };
    return { status: 200, body: { data } };
  },
  taken({ body }, answer) {
    const { from, to, text, webhook_url: callback } = JSON.parse(body) as Sent;
    const { data } = answer.body as { data: { id: string } };
    return { id: data.id, ours: new URL(callback).searchParams.get('m') ?? '', to, from, text, callback };
  },
  refusals: [
    { what: '40310, not a number', answer: refusal(400, '40310'), status: 'failed', error: 'invalid_destination' },
    {
      what: '40300, the recipient said STOP',
      answer: refusal(400, '40300'),
      status: 'failed',
      error: 'blocked_by_recipient',
    },
    { what: '40305, not your sender', answer: refusal(400, '40305'), status: 'failed', error: 'sender_rejected' },
    { what: '40302, too large', answer: refusal(400, '40302'), status: 'failed', error: 'content_rejected' },
    { what: 'another 422', answer: refusal(422, '19999'), status: 'failed', error: 'blocked_by_carrier' },
  ],
  throttled: { ...refusal(429, '10011'), headers: { 'Retry-After': '1' } },
  receipt: ({ id, to, from, text }, { url, state, error, nowMs }) =>
    signed(
      url,
      {
        data: {
          event_type: 'message.finalized',
          id: `4ee8c3a6-4995-4309-a3c6-${id.slice(-12)}`,
          occurred_at: '2026-01-01T12:00:00.000+00:00',
          record_type: 'event',
          payload: {
            id,
            direction: 'outbound',
            from: { phone_number: from, carrier: 'Telnyx', line_type: 'Wireless' },
            to: [{ phone_number: to, status: state, carrier: 'T', line_type: 'Wireless' }],
            text,
            parts: 1,
            cost: { amount: '0.0051', currency: 'USD' },
            errors: error === undefined ? [] : [{ code: error, title: 'As documented' }],
          },
        },
        meta: { attempt: 1, delivered_to: url },
      },
      nowMs,
    ),
  states: [
    { state: 'delivery_failed', error: '40001', status: 'undelivered', code: 'invalid_destination' },
    { state: 'delivery_failed', error: '40006', status: 'undelivered', code: 'unreachable' },
    { state: 'sending_failed', error: '40003', status: 'failed', code: 'sender_rejected' },
    { state: 'delivered', status: 'delivered' },
  ],
  forgeries: {
    'no signature': ({ headers: { 'telnyx-signature-ed25519': _, ...headers }, ...call }) => ({ ...call, headers }),
    'another time': (call) => ({
      ...call,
      headers: { ...call.headers, 'telnyx-timestamp': String(Math.floor(Date.now() / 1000) + 1) },
    }),
    'a state turned': (call) => ({ ...call, body: call.body?.replaceAll('"delivered"', '"sending_failed"') }),
    'ten minutes old': (_, again) => again(Date.now() - 600_000),
    respelled,
  },
  inbound: (url, nowMs) =>
    signed(
      url,
      {
        data: {
          event_type: 'message.received',
          record_type: 'event',
          payload: {
            id: 'in1',
            from: { phone_number: '+447700900999' },
            to: [{ phone_number: '+447700900001', status: 'webhook_delivered' }],
            text: 'STOP & go',
          },
        },
      },
      nowMs,
    ),
};
