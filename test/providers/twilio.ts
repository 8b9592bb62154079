// Twilio as documented: https://www.twilio.com/docs/messaging/api/message-resource and …/usage/webhooks/webhooks-security
import { createHmac } from 'node:crypto';
import { formCall, type Provider, type ProviderCall } from './call.ts';

const sid = 'AC0123456789abcdef0123456789abcdef';
const token = 'twilio-token-Zq7';
let given = 0;

function sign(url: string, fields: Record<string, string>): string {
  const sorted = Object.keys(fields)
    .sort((a, b) => (a < b ? -1 : 1))
    .map((name) => name + fields[name]);
  return createHmac('sha1', token)
    .update(url + sorted.join(''))
    .digest('base64');
}

function signed(url: string, fields: Record<string, string>): ProviderCall {
  return formCall(url, fields, { 'x-twilio-signature': sign(url, fields) });
}

const refusal = (status: number, code: number, headers = {}) => ({
  status,
  headers,
  body: { code, message: 'as documented', more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});

export const twilio: Provider = {
  preset: 'twilio',
  settings: { account_sid: sid, auth_token: token },
  wrong: { account_sid: sid, auth_token: 'another-token' },
  secrets: [token],
  recorded: {
    path: `/2010-04-01/Accounts/${sid}/Messages.json`,
    fields: { To: '+447700900123', From: 'ACME', Body: 'Hi € {{to}}' },
  },
  fieldsOf({ body }) {
    const { StatusCallback: _, ValidityPeriod: __, ...rest } = Object.fromEntries(new URLSearchParams(body));
    return rest;
  },
  answer({ headers, body, path }) {
    const expected = `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`;
    if (headers.authorization !== expected) return refusal(401, 20003);
    const { To, From, Body } = Object.fromEntries(new URLSearchParams(body));
    const made = `SM${String(++given).padStart(32, '0')}`;
    const status = 'queued';
    return {
      status: 201,
      body: { sid: made, to: To, from: From, body: Body, status, num_segments: '1', price: null, uri: path },
    };
  },
  taken({ body }, answer) {
    const { To = '', From = '', Body = '', StatusCallback } = Object.fromEntries(new URLSearchParams(body));
    const { sid: id } = answer.body as { sid: string };
    return {
      id,
      ours: new URL(StatusCallback ?? '').searchParams.get('m') ?? '',
      to: To,
      from: From,
      text: Body,
      callback: StatusCallback,
    };
  },
  refusals: [
    { what: '21211, not a number', answer: refusal(400, 21211), status: 'failed', error: 'invalid_destination' },
    {
      what: '21610, the recipient said STOP',
      answer: refusal(400, 21610),
      status: 'failed',
      error: 'blocked_by_recipient',
    },
    { what: '21606, not your sender', answer: refusal(400, 21606), status: 'failed', error: 'sender_rejected' },
    { what: '21617, too long', answer: refusal(400, 21617), status: 'failed', error: 'content_rejected' },
    { what: 'another 400', answer: refusal(400, 99999), status: 'failed', error: 'blocked_by_carrier' },
  ],
  throttled: refusal(429, 20429, { 'Retry-After': '1' }),
  receipt: ({ id, to, from }, { url, state, error }) =>
    signed(url, {
      AccountSid: sid,
      MessageSid: id,
      SmsSid: id,
      MessageStatus: state,
      SmsStatus: state,
      To: to,
      From: from,
      ApiVersion: '2010-04-01',
      ...(error !== undefined && { ErrorCode: error }),
    }),
  states: [
    { state: 'undelivered', error: '30003', status: 'undelivered', code: 'unreachable' },
    { state: 'undelivered', error: '30006', status: 'undelivered', code: 'invalid_destination' },
    { state: 'undelivered', error: '30007', status: 'undelivered', code: 'content_rejected' },
    { state: 'failed', error: '30008', status: 'failed', code: 'unknown' },
    { state: 'delivered', status: 'delivered' },
  ],
  forgeries: {
    'no signature': (call) => ({ ...call, headers: { 'content-type': call.headers['content-type'] ?? '' } }),
    'another body': (call) => ({ ...call, body: `${call.body}&Extra=1` }),
    'a state turned': (call) => ({ ...call, body: call.body?.replaceAll('delivered', 'undelivered') }),
    'another query': (call) => ({ ...call, url: `${call.url}&x=1` }),
    'JSON instead of the form': (call) => ({
      ...call,
      headers: { ...call.headers, 'content-type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(new URLSearchParams(call.body))),
    }),
  },
  inbound: (url) =>
    signed(url, {
      MessageSid: 'SMin1',
      AccountSid: sid,
      From: '+447700900999',
      To: '+447700900001',
      Body: 'STOP & go',
      NumMedia: '0',
    }),
};
