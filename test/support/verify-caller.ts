import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { getToken } from './applications.ts';
import { type Answer, send } from './developer.ts';

export interface SentCode {
  channel: string;
  status: string;
  message_id: string;
  error: { code: string } | null;
}

export interface VerificationBody {
  id: string;
  to: string;
  channel: string;
  status: string;
  reason: string | null;
  code_length: number;
  attempts: number;
  attempts_remaining: number;
  sends: number;
  /** In a start's answer only. */
  sent?: boolean;
  resend_available_at: string | null;
  created_at: string;
  updated_at: string;
  expires_at: string;
  approved_at: string | null;
  delivery: { status: string; message_id: string; error: unknown } | null;
  deliveries: SentCode[];
  reference: string | null;
  valid?: boolean;
  proof?: string;
}

export interface InboxText {
  to: string;
  text: string;
  channel?: string;
  language?: string;
  segments: { count: number };
  message_id: string;
  verification_id: string | null;
}

export interface VerifyCaller {
  clientId: string;
  clientSecret: string;
  /** The header that its requests are sent with. */
  authorization: string;
  send<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<Body>>;
  start(body: object): Promise<Answer<VerificationBody>>;
  check(id: string, code: string): Promise<Answer<VerificationBody>>;
  read(id: string): Promise<Answer<VerificationBody>>;
  /** A number that was not used before. */
  newNumber(): string;
  /** The texts on a number's phone, newest first, once there are that many. */
  texts(to: string, atLeast: number): Promise<InboxText[]>;
  codeIn(text: string): string;
  /** A code of the right length that is not this verification's. */
  wrongCode(id: string, to: string): Promise<string>;
  /** A fresh verification with its code as its owner reads it on the phone. */
  pending(body?: object): Promise<{ id: string; to: string; code: string; wrong: string }>;
}

/** From the start of a prefix, so that the numbers of a test always lie in the same one. */
let numbers = 400_000_000;

/** An application registered for the Verification API, with a token; given another, only the token is new. */
export async function createVerifyCaller(app: TestApp, like?: VerifyCaller): Promise<VerifyCaller> {
  const { clientId, clientSecret } = like ?? (await registerApplication(app));
  const client = { client_id: clientId, client_secret: clientSecret };
  const authorization = `Bearer ${await getToken(app, client, 'verify:manage')}`;

  const caller: VerifyCaller = {
    clientId,
    clientSecret,
    authorization,
    send: (method, path, body, headers = {}) =>
      send(app, method, path, { body, headers: { authorization, ...headers } }),
    start: (body) => caller.send('POST', '/verify/v1/verifications', { channel: 'sms', ...body }),
    check: (id, code) => caller.send('POST', `/verify/v1/verifications/${id}`, { code }),
    read: (id) => caller.send('GET', `/verify/v1/verifications/${id}`),
    newNumber: () => `+447${numbers++}`,
    async texts(to, atLeast) {
      for (let tries = 0; ; tries++) {
        const path = `/sandbox/v1/inbox?to=${encodeURIComponent(to)}&limit=100`;
        const { body } = await caller.send<{ data: InboxText[] }>('GET', path);
        if (body.data.length >= atLeast || tries > 1500) return body.data;
        await new Promise((done) => setTimeout(done, 20));
      }
    },
    codeIn: (text) => /(?<![0-9])[0-9]{4,10}(?![0-9])/.exec(text)?.[0] ?? '',
    async wrongCode(id, to) {
      let code = '';
      for (let tries = 0; code === '' && tries < 1500; tries++) {
        const text = (await caller.texts(to, 1)).find(({ verification_id }) => verification_id === id);
        code = caller.codeIn(text?.text ?? '');
        if (code === '') await new Promise((done) => setTimeout(done, 20));
      }
      assert.notEqual(code, '');
      return String((Number(code[0]) + 1) % 10) + code.slice(1);
    },
    async pending(body = {}) {
      const to = caller.newNumber();
      const { body: record } = await caller.start({ to, ...body });
      const [text] = await caller.texts(to, 1);
      const code = caller.codeIn(text?.text ?? '');
      return { id: record.id, to, code, wrong: await caller.wrongCode(record.id, to) };
    },
  };
  return caller;
}

/** By the registry itself: what the portal does is tested elsewhere. */
async function registerApplication(app: TestApp): Promise<{ clientId: string; clientSecret: string }> {
  const { service } = app.app.registry;
  const { database } = app.db;
  await database.query(
    `insert into account (id, name, created_at) values ('acc_verify', 'verify@example.com', now()) on conflict do nothing`,
  );
  const { id } = await service.createApplication(database, 'acc_verify', 'ACME');
  const { registration, credential } = await service.registerOwn('acc_verify', id, {
    api: 'verify',
    plan: 'enterprise',
  });
  if (registration.status === 'pending') await service.approve(registration.id);
  assert.ok(credential?.type === 'client');
  return { clientId: credential.clientId, clientSecret: credential.clientSecret };
}
