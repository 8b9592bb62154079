// Vonage's calls as documented: https://developer.vonage.com/en/api/voice, …/voice/voice-api/webhook-reference and
// …/getting-started/concepts/webhooks#decoding-signed-webhooks. The languages are those of its package @vonage/voice.
import { createHash, createHmac, generateKeyPairSync, verify } from 'node:crypto';
import { jsonCall, type ProviderCall, respelled } from '../call.ts';
import type { GotRequest } from '../provider.ts';
import { type CodeProvider, callbackForm, digitsForm, heard, nameProblems, unless } from './code-provider.ts';

const application = 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const another = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const signatureSecret = 'vonage-callbacks-Zq7-0123456789';
const caller = '442079460000';
let given = 0;

const languages =
  'af-ZA ar bg-BG bn-IN ca-ES cmn-CN cmn-TW cs-CZ cy-GB da-DK de-AT de-DE el-GR en-AU en-GB en-IN en-US en-ZA es-ES es-MX ' +
  'es-US eu-ES fi-FI fil-PH fr-CA fr-FR gl-ES gu-IN he-IL hi-IN hu-HU id-ID is-IS it-IT ja-JP kn-IN ko-KR lv-LV ml-IN ' +
  'ms-MY nb-NO nl-BE nl-NL no-NO pa-IN pl-PL pt-BR pt-PT ro-RO ru-RU sk-SK sr-RS sv-SE ta-IN te-IN th-TH tr-TR uk-UA ' +
  'vi-VN yue-CN';

interface Call {
  to: { type: string; number: string }[];
  from: { type: string; number: string };
  ncco: { action: string; text: string; language: string }[];
  ringing_timer: number;
  event_url: string[];
  event_method: string;
}
const callOf = ({ body }: GotRequest) => JSON.parse(body) as Call;

/** What a text with SSML says; undefined if a tag is unknown or open. */
function readSsml(text: string): string | undefined {
  const inner = /^<speak>(.*)<\/speak>$/s.exec(text)?.[1];
  const plain = inner?.replaceAll(/<break time="\d{2,4}m?s"\/>/g, '');
  if (plain === undefined || /[<>]|&(?!(?:amp|lt|gt|quot|apos);)/.test(plain)) return undefined;
  const breaks = inner?.match(/<break/g)?.length ?? 0;
  return breaks === 0 ? undefined : plain.replaceAll('&amp;', '&').replaceAll('&apos;', "'").replaceAll('&quot;', '"');
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>;

/** Whether a token proves the application: RS256, its id, not older than fifteen minutes, and an id of its own. */
function isSignedByApplication(authorization: string | undefined): boolean {
  const [head = '', claims = '', signature = ''] = authorization?.replace(/^Bearer /, '').split('.') ?? [];
  if (signature === '') return false;
  const { application_id, iat, exp, jti } = decode(claims);
  const nowSeconds = Date.now() / 1000;
  return (
    decode(head).alg === 'RS256' &&
    application_id === application &&
    typeof iat === 'number' &&
    typeof exp === 'number' &&
    exp - iat <= 86_400 &&
    exp > nowSeconds - 3600 &&
    typeof jti === 'string' &&
    jti.length >= 16 &&
    verify('RSA-SHA256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
  );
}

function signed(url: string, value: object, nowMs: number): ProviderCall {
  const call = jsonCall(url, value);
  const claims = {
    iat: Math.floor(nowMs / 1000),
    jti: `c5ba8f24-1a14-4c10-bfdf-3fbe8ce511b${given % 10}`,
    iss: 'Vonage',
    payload_hash: createHash('sha256')
      .update(call.body ?? '')
      .digest('hex'),
    api_key: 'a1b2c3d',
    application_id: application,
  };
  const text = `${encode({ typ: 'JWT', alg: 'HS256' })}.${encode(claims)}`;
  const token = `${text}.${createHmac('sha256', signatureSecret).update(text).digest('base64url')}`;
  return { ...call, headers: { ...call.headers, authorization: `Bearer ${token}` } };
}

const refusal = (status: number, title: string, headers = {}) => ({
  status,
  headers,
  body: {
    type: 'https://developer.vonage.com/api-errors',
    title,
    detail: 'as documented',
    instance: 'bf0ca0bf927b3b52',
  },
});

export const vonageVoice: CodeProvider = {
  preset: 'vonage-voice',
  channel: 'voice',
  settings: { application_id: application, private_key: pem, caller_id: caller, signature_secret: signatureSecret },
  wrong: { private_key: another.export({ type: 'pkcs8', format: 'pem' }).toString() },
  secrets: [signatureSecret, ...pem.split('\n').slice(2, 8)],
  problemsOf(request) {
    const { to, from, ncco, ringing_timer: timer, event_url: events, event_method: method } = callOf(request);
    const [callee] = to;
    const [talk] = ncco;
    return [
      ...unless(request.method === 'POST' && request.path === '/v1/calls', request.path),
      ...unless(request.headers['content-type'] === 'application/json', 'it is JSON'),
      ...nameProblems(callOf(request), {
        needed: ['to', 'from', 'ncco'],
        allowed: ['ringing_timer', 'event_url', 'event_method'],
      }),
      ...nameProblems(callee ?? {}, { needed: ['type', 'number'] }),
      ...nameProblems(from, { needed: ['type', 'number'] }),
      ...nameProblems(talk ?? {}, { needed: ['action', 'text'], allowed: ['language', 'style', 'premium', 'loop'] }),
      ...unless(to.length === 1 && callee?.type === 'phone' && digitsForm.test(callee.number), 'to'),
      ...unless(from.type === 'phone' && from.number === caller, 'from'),
      ...unless(ncco.length === 1 && talk?.action === 'talk', 'ncco'),
      ...unless((talk?.text.length ?? 0) <= 1500, 'text is too long'),
      ...unless(readSsml(talk?.text ?? '') !== undefined, `text ${talk?.text}`),
      ...unless(languages.split(' ').includes(talk?.language ?? ''), `no voice for ${talk?.language}`),
      ...unless(Number.isInteger(timer) && timer >= 1 && timer <= 120, `ringing_timer ${timer}`),
      ...unless(events.length === 1 && callbackForm.test(events[0] ?? ''), 'event_url'),
      ...unless(method === 'POST', 'event_method'),
    ];
  },
  answer({ headers }) {
    if (!isSignedByApplication(headers.authorization)) return refusal(401, 'Unauthorized');
    const uuid = `63f61863-4a51-4f6b-86e1-${String(++given).padStart(12, '0')}`;
    const conversation = 'CON-f972836a-550f-45fa-956c-12a2ab5b7d22';
    return { status: 201, body: { uuid, status: 'started', direction: 'outbound', conversation_uuid: conversation } };
  },
  taken(request, answer, language) {
    const { to, ncco, event_url: events } = callOf(request);
    return {
      id: (answer.body as { uuid: string }).uuid,
      ours: new URL(events[0] ?? '').searchParams.get('m') ?? '',
      to: to[0]?.number ?? '',
      code: heard(readSsml(ncco[0]?.text ?? '') ?? '', language),
      callback: events[0],
    };
  },
  refusals: [
    { what: 'a bad request', answer: refusal(400, 'Bad Request'), error: 'blocked_by_carrier' },
    { what: 'an unknown one', answer: refusal(404, 'Not Found'), error: 'blocked_by_carrier' },
  ],
  throttled: refusal(429, 'Too Many Requests', { 'Retry-After': '1' }),
  receipt: ({ id, to }, { url, state, nowMs }) =>
    signed(
      url,
      {
        headers: {},
        from: caller,
        to,
        uuid: id,
        conversation_uuid: 'CON-f972836a-550f-45fa-956c-12a2ab5b7d22',
        status: state,
        direction: 'outbound',
        timestamp: '2027-01-01T12:00:00.000Z',
        ...(state === 'completed' && { duration: '14', rate: '0.02', price: '0.01', network: '23410' }),
      },
      nowMs,
    ),
  pending: ['started', 'ringing'],
  arrived: ['answered', 'completed'],
  failed: [
    { state: 'unanswered', status: 'undelivered', code: 'no_answer' },
    { state: 'timeout', status: 'undelivered', code: 'no_answer' },
    { state: 'busy', status: 'undelivered', code: 'busy' },
    { state: 'rejected', status: 'undelivered', code: 'busy' },
    { state: 'failed', status: 'undelivered', code: 'unreachable' },
  ],
  forgeries: {
    'no signature': (call) => ({ ...call, headers: { 'content-type': 'application/json' } }),
    'a state turned': (call) => ({ ...call, body: call.body?.replace(/answered|completed/, 'busy') }),
    'the same body, written otherwise': respelled,
    'an hour old': (_, again) => again(Date.now() - 3_600_000),
  },
};
