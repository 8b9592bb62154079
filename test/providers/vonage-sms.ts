// Vonage SMS API as documented: https://developer.vonage.com/en/messaging/sms/overview, …/concepts/signing-messages
import { createHmac } from 'node:crypto';
import { formCall, type Provider, type ProviderCall, respelled } from './call.ts';

const secret = 'vonage-secret-Zq7';
const signatureSecret = 'vonage-signature-Zq7';
let given = 0;

function signed(url: string, fields: Record<string, string>, nowMs: number): ProviderCall {
  const all: Record<string, string> = { ...fields, nonce: 'a1b2', timestamp: String(Math.floor(nowMs / 1000)) };
  const text = Object.keys(all)
    .sort((a, b) => (a < b ? -1 : 1))
    .map((name) => `&${name}=${(all[name] ?? '').replaceAll(/[&=]/g, '_')}`)
    .join('');
  const sig = createHmac('sha256', signatureSecret).update(text).digest('hex');
  return formCall(url, { ...all, sig }, {});
}

const answered = (status: string, more: object = {}) => ({
  status: 200,
  body: { 'message-count': '1', messages: [{ status, ...more }] },
});

export const vonageSms: Provider = {
  preset: 'vonage-sms',
  settings: { api_key: 'abcd1234', api_secret: secret, signature_secret: signatureSecret, signature_method: 'sha256' },
  wrong: { api_secret: 'another' },
  secrets: ['abcd1234', secret, signatureSecret],
  recorded: {
    path: '/sms/json',
    fields: {
      api_key: 'abcd1234',
      api_secret: secret,
      from: 'ACME',
      to: '447700900123',
      text: 'Hi € {{to}}',
      type: 'text',
      'status-report-req': '1',
    },
  },
  fieldsOf({ body }) {
    const { callback: _, ttl: __, 'client-ref': ___, ...rest } = Object.fromEntries(new URLSearchParams(body));
    return rest;
  },
  answer({ body }) {
    const { api_secret, to = '', text = '' } = Object.fromEntries(new URLSearchParams(body));
    if (api_secret !== secret) return answered('4', { 'error-text': 'Bad Credentials' });
    const parts = text.length > 160 ? Math.ceil(text.length / 153) : 1;
    const messages = Array.from({ length: parts }, () => ({
      to,
      'message-id': `0C00000${String(++given).padStart(9, '0')}`,
      status: '0',
      'remaining-balance': '15.53590000',
      'message-price': '0.03330000',
      network: '23410',
    }));
    return { status: 200, body: { 'message-count': String(parts), messages } };
  },
  taken({ body }, answer) {
    const {
      from = '',
      to = '',
      text = '',
      callback,
      'client-ref': ours = '',
    } = Object.fromEntries(new URLSearchParams(body));
    const { messages } = answer.body as { messages: { 'message-id': string }[] };
    return { id: messages[0]?.['message-id'] ?? '', ours, to, from, text, callback };
  },
  refusals: [
    { what: '6, unknown prefix', answer: answered('6'), status: 'failed', error: 'invalid_destination' },
    { what: '7, barred', answer: answered('7'), status: 'failed', error: 'blocked_by_recipient' },
    { what: '15, not your sender', answer: answered('15'), status: 'failed', error: 'sender_rejected' },
    { what: '12, too long', answer: answered('12'), status: 'failed', error: 'content_rejected' },
    { what: '3, a parameter', answer: answered('3'), status: 'failed', error: 'blocked_by_carrier' },
  ],
  throttled: answered('1', { 'error-text': 'Throughput Rate Exceeded' }),
  receipt: ({ id, ours, to, from }, { url, state, error = '0', nowMs }) =>
    signed(
      url,
      {
        msisdn: to,
        to: from,
        'network-code': '23410',
        messageId: id,
        price: '0.03330000',
        status: state,
        scts: '2001011400',
        'err-code': error,
        'api-key': 'abcd1234',
        'client-ref': ours,
        'message-timestamp': '2020-01-01 12:00:00',
      },
      nowMs,
    ),
  states: [
    { state: 'failed', error: '2', status: 'undelivered', code: 'unreachable' },
    { state: 'failed', error: '9', status: 'undelivered', code: 'blocked_by_recipient' },
    { state: 'rejected', error: '6', status: 'failed', code: 'blocked_by_carrier' },
    { state: 'expired', error: '1', status: 'expired', code: 'unknown' },
    { state: 'delivered', status: 'delivered' },
  ],
  forgeries: {
    'no signature': (call) => ({ ...call, body: call.body?.replace(/&sig=.*$/, '') }),
    'a state turned': (call) => ({ ...call, body: call.body?.replace('delivered', 'rejected') }),
    'ten minutes old': (_, again) => again(Date.now() - 600_000),
    'ten minutes ahead': (_, again) => again(Date.now() + 600_000),
    respelled,
  },
  inbound: (url, nowMs) =>
    signed(
      url,
      {
        msisdn: '447700900999',
        to: '447700900001',
        messageId: '0B00',
        text: 'STOP & go',
        type: 'text',
        keyword: 'STOP',
      },
      nowMs,
    ),
};
