import { hexOf } from '../../platform/ids.ts';

/** An example id with this prefix. All examples have the same time. */
export function exampleId(prefix: string): string {
  return `${prefix}_01kg9ys7g00007pvsxjqcgeahz`;
}

/** The same id as a Twilio sid. */
export function exampleSid(sidPrefix: string): string {
  return sidPrefix + hexOf(exampleId('app'));
}

/** The examples form one story: a record is made at noon, sent, delivered and changed soon after, and ends a day later. */
export const exampleTimes = {
  created_at: '2026-01-31T12:00:00.000Z',
  sent_at: '2026-01-31T12:00:00.400Z',
  delivered_at: '2026-01-31T12:00:02.400Z',
  updated_at: '2026-01-31T12:00:02.400Z',
  received_at: '2026-01-31T12:00:02.400Z',
  raised_at: '2026-01-31T12:01:00.000Z',
  last_seen_at: '2026-01-31T12:05:00.000Z',
  last_used_at: '2026-01-31T12:05:00.000Z',
  ends_at: '2026-01-31T18:00:00.000Z',
  expires_at: '2026-02-01T12:00:00.000Z',
};
const timeOf: Record<string, string> = exampleTimes;
/** The time span in examples of filters: the day of the examples. */
export const exampleSpan = { from: '2026-01-31T00:00:00Z', to: '2026-02-01T00:00:00Z' };

/** Values for fields without `examples` of their own, by name: the same name means the same everywhere. */
export const fieldExamples: Record<string, unknown> = {
  account_email: 'you@example.com',
  account_id: exampleId('acc'),
  account_name: 'you@example.com',
  address: '198.51.100.7',
  advice: 'Check the address and the password of the account.',
  api: 'sms',
  application_id: exampleId('app'),
  application_name: 'ACME',
  approved: 9,
  attempts: 1,
  base_url: 'http://127.0.0.1:8080',
  burst: 60,
  carrier: 'acme',
  channel: 'sms',
  client_id: exampleId('cli'),
  code: '123456',
  correlation_id: exampleId('req'),
  country: 'GB',
  current_password: 'a sentence that only I would think of',
  cursor: 'bXNnXzAxa2c5eXM3ZzAwMDA3cHZzeGpxY2dlYWh6',
  day: '2026-01-31',
  description: 'Order updates',
  detail: 'Accepted by carrier acme-uk',
  email: 'you@example.com',
  encoding: 'GSM-7',
  environment: 'sandbox',
  event: 'sent',
  field: 'to',
  from: 'ACME',
  id: exampleId('app'),
  keyword: 'INFO',
  last_four: 'k3Zp',
  locale: 'en',
  message: 'Your order has left our house.',
  message_id: exampleId('msg'),
  method: 'POST',
  name: 'ACME',
  node: exampleId('nod'),
  number: '+447700900123',
  number_ends: '123',
  password: 'a sentence that only I would think of',
  path: '/sms/v1/messages',
  per_minute: 60,
  plan: 'free',
  reason: 'It was asked for by mistake.',
  reference: 'order-1234',
  scope: 'openid verify:manage',
  sender: 'ACME',
  subject: exampleId('msg'),
  template_id: '1107160000000012345',
  to: '+447700900123',
  token: 'eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl',
  token_url: 'http://127.0.0.1:8080/realms/heliograph/protocol/openid-connect/token',
  event_id: exampleId('evt'),
  url: 'https://example.com/hooks',
  verification_id: exampleId('ver'),
  version: '0.2.0',
  webhook_id: exampleId('whk'),
};

const timeFields = new Set(['failing_since', 'at', 'since', 'due', 'time', 'deferred_until']);

/** Whether a field of an answer is a time in RFC 3339, by its name. */
export function isTimeField(field: string | undefined): boolean {
  return field !== undefined && (field.endsWith('_at') || timeFields.has(field));
}

export function exampleOfField(field: string | undefined): unknown {
  if (field === undefined) return undefined;
  return isTimeField(field) ? (timeOf[field] ?? exampleTimes.created_at) : fieldExamples[field];
}

/** A path parameter, by the part of the path before it. */
export const parameterExamples: Record<string, { example: string; description: string }> = {
  'accounts/{id}': { example: exampleId('acc'), description: 'The id of the account' },
  'applications/{application_id}': { example: exampleId('app'), description: 'The id of the application' },
  'applications/{id}': { example: exampleId('app'), description: 'The id of the application' },
  'messages/{id}': { example: exampleId('msg'), description: 'The id of the message' },
  'messages/{message_id}': { example: exampleId('msg'), description: 'The id of the message' },
  'calls/{message_id}': { example: exampleId('msg'), description: 'The id of the message that is the call' },
  'verifications/{id}': { example: exampleId('ver'), description: 'The id of the verification' },
  'verifications/{verification_id}': { example: exampleId('ver'), description: 'The id of the verification' },
  'inbound/{id}': { example: exampleId('inb'), description: 'The id of the text' },
  'opt-outs/{number}': {
    example: '+447700900123',
    description: 'The phone number; encode its plus as %2B or leave it',
  },
  'sessions/{session_id}': { example: 'ses_5f1c0a9be2d44c3aa0b1c2d3e4f50617', description: 'The id of the session' },
  'members/{person_id}': { example: exampleId('per'), description: 'The id of the person' },
  'invitations/{invitation_id}': { example: exampleId('inv'), description: 'The id of the invitation' },
  'registrations/{id}': { example: exampleId('reg'), description: 'The id of the registration' },
  'registrations/{api}': { example: 'sms', description: 'sms, verify or messaging' },
  'keys/{key_id}': { example: exampleId('key'), description: 'The id of the API key' },
  'client-keys/{key_id}': { example: exampleId('cky'), description: 'The id of the public key' },
  'smpp-accounts/{account_id}': { example: exampleId('smp'), description: 'The id of the SMPP account' },
  'smpp-binds/{bind_id}': { example: exampleId('bnd'), description: 'The id of the bind' },
  'client-secrets/{secret_id}': { example: exampleId('sec'), description: 'The id of the client secret' },
  'senders/{id}': { example: exampleId('snd'), description: 'The id of the sender' },
  'senders/{sender_id}': { example: exampleId('snd'), description: 'The id of the sender' },
  'requests/{correlation_id}': { example: exampleId('req'), description: 'The X-Correlation-ID of the answer' },
  'records/{id}': { example: exampleId('msg'), description: 'The id of a text, a verification or a request' },
  'templates/{country}': { example: 'IN', description: 'The ISO code of the country' },
  'plans/{plan}': { example: 'free', description: 'free, pro or enterprise' },
  'carriers/{name}': { example: 'acme', description: 'The name of the carrier' },
  'test/{id}': { example: exampleId('tst'), description: 'The id of the test' },
  'numbers/{number}': { example: '+447700900199', description: 'The number or short code' },
  'v1/{name}': { example: 'acme', description: 'The name of the carrier' },
  'receipts/{token}': { example: 'Zk3pQ7', description: "The token of the carrier's address" },
  'inbound/{token}': { example: 'Zk3pQ7', description: "The token of the carrier's address" },
  'reference/{operation}': { example: 'sendSms', description: 'The id of the operation' },
  'errors/{error}': { example: 'NOT_FOUND', description: 'The code of the error, or 429' },
  'guides/{guide}': { example: 'first-text', description: 'The name of the guide' },
  'assets/{name}': { example: 'index.js', description: 'The name of the file' },
  'guard-holds/{hold_id}': { example: exampleId('hld'), description: 'The id of what is held back' },
  'guard-holds/{id}': { example: exampleId('hld'), description: 'The id of what is held back' },
  'events/{event_id}': { example: exampleId('evt'), description: 'The id of the event' },
  'events/{id}': { example: exampleId('evt'), description: 'The id of the event' },
  'webhooks/{webhook_id}': { example: exampleId('whk'), description: 'The id of the webhook' },
  'v1/{kind}': { example: 'supabase', description: 'The identity server' },
  '{kind}/{hook_id}': { example: exampleId('hok'), description: 'The id of the hook' },
  'hooks/{hook_id}': { example: exampleId('hok'), description: 'The id of the hook' },
  'Services/{service_sid}': { example: exampleSid('VA'), description: 'The service_sid of the application' },
  'Verifications/{verification}': {
    example: exampleSid('VE'),
    description: 'The sid of the verification, or its phone number',
  },
  'Accounts/{account_sid}': { example: exampleSid('AC'), description: 'The account_sid of the application' },
  'Messages/{message}': { example: `${exampleSid('SM')}.json`, description: 'The sid of the message, and .json' },
  'deliveries/{event_id}': { example: exampleId('evt'), description: 'The id of the event' },
};
