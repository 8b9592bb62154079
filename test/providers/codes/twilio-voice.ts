// Twilio's calls as documented: https://www.twilio.com/docs/voice/api/call-resource and …/voice/twiml/say. Its own package
// writes the TwiML to compare with, knows the languages of <Say>, and signs the callbacks.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import twilio from 'twilio';
import { formCall, type ProviderCall } from '../call.ts';
import type { GotRequest } from '../provider.ts';
import { type CodeProvider, callbackForm, heard, nameProblems, plusForm, unless } from './code-provider.ts';

const sid = 'AC0123456789abcdef0123456789abcdef';
const token = 'twilio-calls-Zq7';
const caller = '+15005550006';
let given = 0;

const typings = readFileSync(
  createRequire(import.meta.url)
    .resolve('twilio/lib/twiml/VoiceResponse.d.ts')
    .toString(),
  'utf8',
);
const sayLanguages: readonly string[] = /type SayLanguage = ([^;]+);/.exec(typings)?.[1]?.match(/[\w-]+/g) ?? [];

interface Said {
  language: string;
  text: string;
}

const unescaped = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');

/** What the markup says; undefined if Twilio's own package would not write it so. */
function readTwiml(twiml: string): Said[] | undefined {
  const response = new twilio.twiml.VoiceResponse();
  const said: Said[] = [];
  for (const [, length, language, text] of twiml.matchAll(
    /<Pause length="(\d+)"\/>|<Say language="([\w-]+)">([^<]*)<\/Say>/g,
  )) {
    if (length !== undefined) response.pause({ length: Number(length) });
    else {
      const one = { language: language ?? '', text: unescaped(text ?? '') };
      said.push(one);
      response.say({ language: one.language as never }, one.text);
    }
  }
  const written = response.toString().replace(/^<\?xml[^>]*\?>/, '');
  const plain = (xml: string) => unescaped(xml);
  return plain(written) === plain(twiml) ? said : undefined;
}

const fieldsOf = ({ body }: GotRequest) => new URLSearchParams(body);
const isIn = (list: readonly string[]) => (value: string) => list.includes(value);

function signed(url: string, fields: Record<string, string>): ProviderCall {
  return formCall(url, fields, { 'x-twilio-signature': twilio.getExpectedTwilioSignature(token, url, fields) });
}

const refusal = (status: number, code: number, headers = {}) => ({
  status,
  headers,
  body: { code, message: 'as documented', more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});

export const twilioVoice: CodeProvider = {
  preset: 'twilio-voice',
  channel: 'voice',
  settings: { account_sid: sid, auth_token: token, caller_id: caller },
  wrong: { auth_token: 'another-token' },
  secrets: [token],
  problemsOf(request) {
    const fields = fieldsOf(request);
    const one = Object.fromEntries(fields);
    const said = readTwiml(one.Twiml ?? '');
    const events = fields.getAll('StatusCallbackEvent');
    return [
      ...unless(request.method === 'POST', 'it is a POST'),
      ...unless(request.path === `/2010-04-01/Accounts/${sid}/Calls.json`, request.path),
      ...unless(request.headers['content-type'] === 'application/x-www-form-urlencoded', 'it is a form'),
      ...nameProblems(one, {
        needed: ['To', 'From', 'Twiml'],
        allowed: ['Timeout', 'StatusCallback', 'StatusCallbackEvent', 'StatusCallbackMethod'],
      }),
      ...unless(plusForm.test(one.To ?? ''), `To ${one.To}`),
      ...unless(one.From === caller, `From ${one.From}`),
      ...unless((one.Twiml ?? '').length <= 4000, 'Twiml is too long'),
      ...unless(said !== undefined && said.length > 0, `Twiml ${one.Twiml}`),
      ...(said ?? []).flatMap(({ language }) => unless(sayLanguages.includes(language), `no voice for ${language}`)),
      ...unless(/^\d{1,3}$/.test(one.Timeout ?? '60') && Number(one.Timeout ?? 60) <= 600, `Timeout ${one.Timeout}`),
      ...unless(callbackForm.test(one.StatusCallback ?? ''), `StatusCallback ${one.StatusCallback}`),
      ...unless(['GET', 'POST'].includes(one.StatusCallbackMethod ?? ''), 'StatusCallbackMethod'),
      ...unless(events.every(isIn(['initiated', 'ringing', 'answered', 'completed'])), `events ${events}`),
      ...unless(events.includes('completed') && new Set(events).size === events.length, `events ${events}`),
    ];
  },
  answer({ headers, body, path }) {
    const expected = `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`;
    if (headers.authorization !== expected) return refusal(401, 20003);
    const { To, From } = Object.fromEntries(new URLSearchParams(body));
    const made = `CA${String(++given).padStart(32, '0')}`;
    const about = { account_sid: sid, status: 'queued', direction: 'outbound-api', api_version: '2010-04-01' };
    return {
      status: 201,
      body: { ...about, sid: made, to: To, from: From, price: null, price_unit: 'USD', uri: path },
    };
  },
  taken(request, answer, language) {
    const { To = '', Twiml = '', StatusCallback } = Object.fromEntries(fieldsOf(request));
    const said = readTwiml(Twiml) ?? [];
    return {
      id: (answer.body as { sid: string }).sid,
      ours: new URL(StatusCallback ?? '').searchParams.get('m') ?? '',
      to: To,
      code: heard(said.map(({ text }) => text).join(' '), language),
      callback: StatusCallback,
    };
  },
  refusals: [
    { what: '21211, not a number', answer: refusal(400, 21211), error: 'invalid_destination' },
    { what: '21215, a country that is not allowed', answer: refusal(400, 21215), error: 'blocked_by_carrier' },
    { what: '21210, not your number', answer: refusal(400, 21210), error: 'sender_rejected' },
  ],
  throttled: refusal(429, 20429, { 'Retry-After': '1' }),
  receipt: ({ id, to }, { url, state }) =>
    signed(url, {
      AccountSid: sid,
      ApiVersion: '2010-04-01',
      CallSid: id,
      CallStatus: state,
      CallbackSource: 'call-progress-events',
      Called: to,
      Caller: caller,
      Direction: 'outbound-api',
      From: caller,
      SequenceNumber: '0',
      Timestamp: 'Mon, 16 Aug 2027 03:45:01 +0000',
      To: to,
      ...(state === 'completed' && { CallDuration: '14', Duration: '1' }),
    }),
  pending: ['queued', 'initiated', 'ringing'],
  arrived: ['in-progress', 'completed'],
  failed: [
    { state: 'no-answer', status: 'undelivered', code: 'no_answer' },
    { state: 'busy', status: 'undelivered', code: 'busy' },
    { state: 'failed', status: 'undelivered', code: 'unreachable' },
  ],
  forgeries: {
    'no signature': (call) => ({ ...call, headers: { 'content-type': call.headers['content-type'] ?? '' } }),
    'a state turned': (call) => ({ ...call, body: call.body?.replace('CallStatus=', 'CallStatus=x') }),
    'another call': (call) => ({ ...call, url: `${call.url}1` }),
    'another body': (call) => ({ ...call, body: `${call.body}&Extra=1` }),
  },
};
