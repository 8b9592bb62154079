// WhatsApp by Twilio as documented: https://www.twilio.com/docs/whatsapp/api and …/docs/content/create-and-send-your-first-content-api-template
import twilio from 'twilio';
import { formCall, type ProviderCall } from '../call.ts';
import type { GotRequest } from '../provider.ts';
import { type CodeProvider, callbackForm, nameProblems, plusForm, unless } from './code-provider.ts';

const sid = 'AC0123456789abcdef0123456789abcdef';
const token = 'twilio-whatsapp-Zq7';
const sender = '+15005550006';
const english = `HX${'e'.repeat(32)}`;
const german = `HX${'d'.repeat(32)}`;
let given = 0;

const fieldsOf = ({ body }: GotRequest): Record<string, string> => Object.fromEntries(new URLSearchParams(body));

function signed(url: string, fields: Record<string, string>): ProviderCall {
  return formCall(url, fields, { 'x-twilio-signature': twilio.getExpectedTwilioSignature(token, url, fields) });
}

const refusal = (status: number, code: number, headers = {}) => ({
  status,
  headers,
  body: { code, message: 'as documented', more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});

function codeOf({ ContentVariables: variables = '' }: Record<string, string>): string | undefined {
  const read = JSON.parse(variables) as Record<string, unknown>;
  return Object.keys(read).join() === '1' && typeof read['1'] === 'string' ? read['1'] : undefined;
}

export const twilioWhatsapp: CodeProvider = {
  preset: 'twilio-whatsapp',
  channel: 'whatsapp',
  settings: {
    account_sid: sid,
    auth_token: token,
    whatsapp_number: sender,
    content_sids: `en=${english},de=${german}`,
  },
  wrong: { auth_token: 'another-token' },
  secrets: [token],
  problemsOf(request) {
    const fields = fieldsOf(request);
    return [
      ...unless(request.method === 'POST', 'it is a POST'),
      ...unless(request.path === `/2010-04-01/Accounts/${sid}/Messages.json`, request.path),
      ...unless(request.headers['content-type'] === 'application/x-www-form-urlencoded', 'it is a form'),
      // A Body would not be the approved template.
      ...nameProblems(fields, {
        needed: ['To', 'From', 'ContentSid', 'ContentVariables'],
        allowed: ['StatusCallback'],
      }),
      ...unless(fields.From === `whatsapp:${sender}`, `From ${fields.From}`),
      ...unless(/^whatsapp:/.test(fields.To ?? '') && plusForm.test(fields.To?.slice(9) ?? ''), `To ${fields.To}`),
      ...unless([english, german].includes(fields.ContentSid ?? ''), `ContentSid ${fields.ContentSid}`),
      ...unless(/^\d{4,15}$/.test(codeOf(fields) ?? ''), `ContentVariables ${fields.ContentVariables}`),
      ...unless(callbackForm.test(fields.StatusCallback ?? ''), `StatusCallback ${fields.StatusCallback}`),
    ];
  },
  answer(request) {
    const expected = `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`;
    if (request.headers.authorization !== expected) return refusal(401, 20003);
    const { To, From } = fieldsOf(request);
    const made = `MM${String(++given).padStart(32, '0')}`;
    const about = { account_sid: sid, status: 'queued', num_segments: '1', price: null, price_unit: null };
    return { status: 201, body: { ...about, sid: made, to: To, from: From, body: '', uri: request.path } };
  },
  taken(request, answer, language) {
    const fields = fieldsOf(request);
    const { To = '', StatusCallback } = fields;
    if (fields.ContentSid !== (language === 'de' ? german : english))
      throw new Error('the template has another language');
    return {
      id: (answer.body as { sid: string }).sid,
      ours: new URL(StatusCallback ?? '').searchParams.get('m') ?? '',
      to: To.slice(9),
      code: codeOf(fields) ?? '',
      callback: StatusCallback,
    };
  },
  refusals: [
    { what: '63024, no WhatsApp', answer: refusal(400, 63024), error: 'not_on_channel' },
    { what: '63007, not your sender', answer: refusal(400, 63007), error: 'sender_rejected' },
    { what: '21656, bad variables', answer: refusal(400, 21656), error: 'content_rejected' },
  ],
  throttled: refusal(429, 63018, { 'Retry-After': '1' }),
  receipt: ({ id, to }, { url, state, error }) =>
    signed(url, {
      AccountSid: sid,
      ApiVersion: '2010-04-01',
      ChannelInstallSid: `XE${'0'.repeat(32)}`,
      ChannelPrefix: 'whatsapp',
      ChannelToAddress: to,
      EventType: state.toUpperCase(),
      From: `whatsapp:${sender}`,
      MessageSid: id,
      MessageStatus: state,
      SmsSid: id,
      SmsStatus: state,
      To: `whatsapp:${to}`,
      ...(error !== undefined && { ErrorCode: error, ChannelStatusMessage: 'as documented' }),
    }),
  pending: ['queued', 'sending', 'sent'],
  arrived: ['delivered', 'read'],
  failed: [
    { state: 'undelivered', error: '63024', status: 'undelivered', code: 'not_on_channel' },
    { state: 'failed', error: '63003', status: 'failed', code: 'not_on_channel' },
    { state: 'undelivered', error: '63016', status: 'undelivered', code: 'content_rejected' },
    { state: 'undelivered', error: '63049', status: 'undelivered', code: 'blocked_by_carrier' },
  ],
  forgeries: {
    'no signature': (call) => ({ ...call, headers: { 'content-type': call.headers['content-type'] ?? '' } }),
    'a state turned': (call) => ({ ...call, body: call.body?.replaceAll('delivered', 'failed') }),
    'another query': (call) => ({ ...call, url: `${call.url}&x=1` }),
  },
};
