// A service as a user starts it, with one of everything that a request can name, and callers for every kind of route.
import assert from 'node:assert/strict';
import { sidOf } from '../../src/twilio/sid.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { createTestDatabase } from '../support/database.ts';
import { asDeveloper, send, type TestDeveloper } from '../support/developer.ts';
import { urlOf } from '../support/node-settings.ts';
import { endServices, program, type Service, startService } from '../support/service.ts';
import { type AccountBody, createTwilioAccount } from '../twilio/caller.ts';
import type { Document, Schema, Slot, Target } from './slots.ts';

export interface World {
  service: Service;
  port: number;
  document: Document;
  /** The headers that open a route. */
  credentialFor(target: Target): Record<string, string>;
  /** A request that the service would accept, with something else in one of its places. */
  requestFor(target: Target, slot: Slot, raw: string): HostileRequest;
  /** A small request of another caller. */
  neighbour: HostileRequest;
  close(): Promise<void>;
}

export interface HostileRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** So that no limit stands before the work that is measured. */
const most = { per_minute: 1_000_000, burst: 1_000_000 };
const withoutLimits = {
  HELIOGRAPH_PLANS: JSON.stringify({ free: most, pro: most, enterprise: most }),
  HELIOGRAPH_ADDRESS_PER_MINUTE: '1000000',
  HELIOGRAPH_ADDRESS_BURST: '1000000',
  LOG_LEVEL: 'error',
};

export async function createWorld(): Promise<World> {
  const db = await createTestDatabase();
  const env = { ...withoutLimits, DATABASE_URL: urlOf(db.connection) };
  const service = await startService({ env });
  await service.ready;
  const operator = await makeOperator(service, env);
  const acme = await createRegistered(service, undefined, 'free', operator);
  const other = await createRegistered(service, undefined, 'free', operator);
  // Keys and secrets are made anew for this one; its own are not used.
  const victim = await createRegistered(service, undefined, 'free', operator);
  const verifyToken = bearer(await getToken(service, acme.client, 'verify:manage'));
  const messagingToken = bearer(await getToken(service, acme.client, 'messaging:send'));
  const twilio = await createTwilioAccount(acme);
  const { account_sid, service_sid } = twilio.account;
  const records = await makeRecords(service, acme, victim, verifyToken, messagingToken);
  const ids = { ...records, account_sid, service_sid };
  const carrier = { name: carrierName, kind: 'smpp', settings: carrierSettings };
  assert.equal((await operator.send('POST', '/portal/v1/operator/carriers', carrier)).status, 201);
  const { body } = await send(service, 'GET', '/openapi.json');

  function credentialFor({ security }: Target): Record<string, string> {
    const [kinds = {}] = security;
    if ('apikey' in kinds) return { apikey: acme.apiKey };
    if ('sid' in kinds) return { Authorization: twilio.basic };
    if ('session' in kinds) return { Cookie: operator.cookie };
    if ('oauth2' in kinds) return kinds.oauth2?.includes('messaging:send') ? messagingToken : verifyToken;
    return {};
  }

  function requestFor(target: Target, slot: Slot, raw: string): HostileRequest {
    const valueFor = (name: string, schema: Schema) => rightValue(name, schema, { ...ids, ...acme.client });
    const query = new URLSearchParams();
    let path = target.path;
    for (const { name, in: location, required, schema } of target.parameters) {
      const isSlot = slot.location === location && slot.steps[0] === name;
      const value = isSlot ? raw : String(location === 'path' ? idFor(target, name, ids) : valueFor(name, schema));
      // Half a surrogate pair cannot be written in a path at all.
      if (location === 'path') path = path.replace(`{${name}}`, () => encodeURIComponent(wellFormed(value)));
      else if (isSlot || required) query.append(name, value);
    }
    const isJson = target.body !== undefined && !target.isForm;
    const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
    return {
      method: target.method,
      path: query.size === 0 ? path : `${path}?${query}`,
      headers: { ...credentialFor(target), ...(target.body !== undefined && { 'Content-Type': type }) },
      body: target.body === undefined ? '' : bodyFor(target, slot, raw, valueFor),
    };
  }

  const neighbour = {
    method: 'POST',
    path: '/sms/v1/messages/preview',
    headers: { apikey: other.apiKey, 'Content-Type': 'application/json' },
    body: '{"message":"hello"}',
  };
  const port = Number(new URL(service.url).port);
  const close = async () => {
    await endServices();
    await db.drop();
  };
  return { service, port, document: body as unknown as Document, credentialFor, requestFor, neighbour, close };
}

async function makeOperator(service: Service, env: Record<string, string>): Promise<TestDeveloper> {
  const email = 'operator@example.com';
  const password = 'a sentence that only I would think of';
  const { dataDir } = service;
  const command = await startService({ dataDir, env, command: ['node', program, 'operator', email] });
  assert.equal((await command.ended).code, 0, command.output());
  const token = /set-password\/(\w+)/.exec(command.output())?.[1];
  const answer = await send(service, 'POST', '/portal/v1/password-resets', { body: { token, password } });
  assert.equal(answer.status, 201);
  return asDeveloper(service, email, password, answer);
}

type Records = Record<'sms' | 'messaging' | 'verify' | 'application' | 'key' | 'correlation', string>;
type Ids = Records & Pick<AccountBody, 'account_sid' | 'service_sid'>;

async function makeRecords(
  service: Service,
  acme: TestApplication,
  victim: TestApplication,
  verifyToken: Record<string, string>,
  messagingToken: Record<string, string>,
): Promise<Records> {
  const text = { to: '+15005550100', from: 'ACME', message: 'Hello' };
  const sms = await send(service, 'POST', '/sms/v1/messages', { body: text, headers: { apikey: acme.apiKey } });
  const messaging = await send(service, 'POST', '/messaging/v1/messages', { body: text, headers: messagingToken });
  const start = { to: '+15005550101', channel: 'sms' };
  const verify = await send(service, 'POST', '/verify/v1/verifications', { body: start, headers: verifyToken });
  assert.deepEqual([sms.status, messaging.status, verify.status], [201, 200, 200]);
  return {
    sms: String(sms.body.id),
    messaging: String(messaging.body.id),
    verify: String(verify.body.id),
    application: victim.id,
    key: victim.keyId,
    correlation: sms.headers.get('x-correlation-id') ?? '',
  };
}

/** Nothing listens there. */
const carrierSettings = { host: '127.0.0.1', port: 1, system_id: 'me' };
const carrierName = 'nowhere';

function idFor({ path }: Target, name: string, ids: Ids): string {
  if (name === 'message_id') return ids.sms;
  if (name === 'verification_id') return ids.verify;
  if (name === 'key_id') return ids.key;
  if (name === 'correlation_id') return ids.correlation;
  if (name === 'account_sid' || name === 'service_sid') return ids[name];
  if (name === 'message') return `${sidOf('SM', ids.sms)}.json`;
  if (name === 'verification') return sidOf('VE', ids.verify);
  if (name === 'api') return 'sms';
  if (name === 'name') return carrierName;
  const [, first = ''] = path.split('/');
  return first === 'sms' || first === 'messaging' || first === 'verify' ? ids[first] : ids.application;
}

/** By the name that our routes use, or else by the schema, so that a new route is tried too. */
function rightValue(name: string, schema: Schema, known: Record<string, string>): unknown {
  const values: Record<string, unknown> = {
    to: '+15005550102',
    from: 'ACME',
    message: 'Hello',
    channel: 'sms',
    code: '000000',
    name: 'ACME',
    email: 'hostile@example.com',
    password: 'a sentence that only I would think of',
    scope: 'openid verify:manage',
    client_id: known.client_id,
    client_secret: known.client_secret,
    application_id: known.application,
    kind: 'smpp',
    settings: carrierSettings,
    // Twilio's names of the same.
    ...{ To: '+15005550103', From: 'ACME', Body: 'Hello', Channel: 'sms', Code: '000000', Status: 'canceled' },
  };
  if (Object.hasOwn(values, name)) return values[name];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.properties !== undefined) return rightObject(schema, known);
  if (schema.items !== undefined) return [rightValue(name, schema.items, known)];
  return schema.minimum ?? 'x';
}

function rightObject(schema: Schema, known: Record<string, string>): Record<string, unknown> {
  const required = Object.entries(schema.properties ?? {}).filter(([name]) => schema.required?.includes(name));
  return Object.fromEntries(required.map(([name, property]) => [name, rightValue(name, property, known)]));
}

const mark = 'the place in question';

function bodyFor(
  target: Target,
  { location, steps }: Slot,
  raw: string,
  valueFor: (name: string, schema: Schema) => unknown,
): string {
  const right = valueFor('', target.body ?? {}) as Record<string, unknown>;
  if (target.isForm) {
    const form = new URLSearchParams(right as Record<string, string>);
    if (location === 'form') form.set(String(steps[0]), raw);
    return form.toString();
  }
  if (location !== 'json') return JSON.stringify(right);
  return JSON.stringify(withMark(right, steps)).replace(JSON.stringify(mark), () => raw);
}

/** The same value with the mark in its place; what is not there on the way is made. */
function withMark(value: unknown, [step, ...rest]: Slot['steps']): unknown {
  if (step === undefined) return mark;
  if (typeof step === 'number') return [withMark((value as unknown[] | undefined)?.[step], rest)];
  const object = (value ?? {}) as Record<string, unknown>;
  return { ...object, [step]: withMark(object[step], rest) };
}

function wellFormed(text: string): string {
  return text.replaceAll(/\p{Cs}/gu, '\ufffd');
}
