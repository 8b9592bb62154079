import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { exchange } from '../support/http.ts';
import { createSender, type Page, type Sender, type SenderOptions } from '../support/texts.ts';

export interface HookBody {
  id: string;
  kind: string;
  url: string;
  secret: string | null;
  settings: { name: string; value: string }[];
  secrets: { id: string; ends_at: string | null }[];
}

export interface CallBody {
  id: string;
  outcome: string;
  detail: string | null;
  subject: string | null;
}

export interface HookAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** An application in the sandbox, with what its hooks do. */
export async function createHookWorld(options: TestAppOptions = {}, sender: SenderOptions = {}) {
  const app = await createTestApp(options);
  return hookWorldOf(app, await createSender(app, sender));
}

/** The same for an application that is there. */
export function hookWorldOf(app: TestApp, acme: Sender) {
  let numbers = 7_400_500_000;
  const base = `/portal/v1/applications/${acme.id}/hooks`;

  async function create(given: object): Promise<HookBody> {
    const { status, body } = await acme.developer.send<HookBody>('POST', base, given);
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  async function post(
    hook: Pick<HookBody, 'url'>,
    body: string | Buffer,
    headers: Record<string, string>,
  ): Promise<HookAnswer> {
    const { pathname } = new URL(hook.url);
    const answer = await exchange(app.url + pathname, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });
    return { status: answer.status, headers: answer.headers, text: answer.body };
  }

  return {
    app,
    acme,
    base,
    create,
    post,
    newNumber: () => `+4${numbers++}`,
    async codes(to: string, atLeast: number): Promise<string[]> {
      const path = `/sandbox/v1/inbox?to=${encodeURIComponent(to)}&limit=100`;
      let texts: string[] = [];
      await eventually(`${atLeast} texts`, async () => {
        const { body } = await send<Page<{ text: string }>>(app, 'GET', path, { headers: acme.key });
        texts = body.data.map(({ text }) => text);
        return texts.length >= atLeast;
      });
      return texts;
    },
    async calls(hook: HookBody): Promise<CallBody[]> {
      return (await acme.developer.send<Page<CallBody>>('GET', `${base}/${hook.id}/calls`)).body.data;
    },
    close: () => app.close(),
  };
}

export type HookWorld = ReturnType<typeof hookWorldOf>;

/** The headers of Supabase, by the library that the standard comes with. Each call has an id of its own. */
export function signSupabase(app: TestApp, secrets: string[], body: string, atMs = app.clock.nowMs()) {
  const id = crypto.randomUUID();
  const at = new Date(atMs);
  const signatures = secrets.map((secret) => new Webhook(secret.replace(/^v1,/, '')).sign(id, at, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atMs / 1000)),
    'webhook-signature': signatures.join(', '),
    'accept-encoding': 'identity',
  };
}

export function signZitadel(app: TestApp, keys: string[], body: string, atMs = app.clock.nowMs()) {
  const t = Math.floor(atMs / 1000);
  const signatures = keys.map((key) => `v1=${createHmac('sha256', key).update(`${t}.${body}`).digest('hex')}`);
  return { 'ZITADEL-Signature': [`t=${t}`, ...signatures].join(',') };
}

/** internal/hooks/v0hooks and internal/models/user.go of supabase/auth. Older versions leave `phone` out of `sms`. */
export const supabasePayload = (phone: string, otp: string, more: object = {}) => ({
  metadata: {
    uuid: crypto.randomUUID(),
    time: '2026-11-18T12:00:00.000000000Z',
    name: 'send-sms',
    ip_address: '203.0.113.7',
  },
  user: {
    id: '6481a5c1-3d37-4a56-9f6a-bee08c554965',
    aud: 'authenticated',
    role: 'authenticated',
    email: '',
    phone,
    confirmation_sent_at: '2026-11-18T12:00:00.000000Z',
    app_metadata: { provider: 'phone', providers: ['phone'] },
    user_metadata: {},
    identities: [],
    created_at: '2026-11-18T12:00:00.000000Z',
    updated_at: '2026-11-18T12:00:00.000000Z',
    is_anonymous: false,
  },
  sms: { otp, ...more },
});

/** packages/connectors/connector-http-sms of logto-io/logto. */
export const logtoPayload = (to: string, code: string) => ({
  to,
  type: 'SignIn',
  payload: { code, locale: 'de' },
  ip: '203.0.113.7',
});

/**
 * internal/notification of zitadel/zitadel: contextInfo, templateData, and the arguments of a code with those of every
 * person. A code of a sign-in is `oTP`, one of a new number `code`.
 */
export const zitadelPayload = (to: string, code: { oTP?: string; code?: string }, text: string) => ({
  contextInfo: {
    eventType: code.oTP === undefined ? 'user.human.phone.code.added' : 'session.otp.sms.challenged',
    provider: { id: '285181292935381355', description: 'Heliograph' },
    recipientPhoneNumber: to,
  },
  templateData: {
    title: 'Verify phone',
    preHeader: 'Verify phone',
    subject: 'Verify phone',
    greeting: 'Hello Ada Lovelace,',
    text,
    buttonText: 'Verify phone',
    primaryColor: '#5282C1',
    backgroundColor: '#fafafa',
    fontColor: '#22292f',
    fontFamily: '-apple-system, BlinkMacSystemFont, Segoe UI, Lato, Arial, Helvetica, sans-serif',
    footerText: 'VerifyPhone.Footer',
  },
  args: {
    ...code,
    ...(code.oTP !== undefined && { origin: 'https://id.example.com', expiry: 300_000_000_000 }),
    domain: 'id.example.com',
    userID: '285181292935381999',
    orgID: '285181292935380001',
    userName: 'ada',
    firstName: 'Ada',
    lastName: 'Lovelace',
    nickName: '',
    displayName: 'Ada Lovelace',
    lastEmail: 'ada@example.com',
    verifiedEmail: 'ada@example.com',
    lastPhone: to,
    verifiedPhone: '',
    preferredLoginName: 'ada@example.com',
    loginName: 'ada@example.com',
    loginNames: ['ada@example.com'],
    changeDate: '2026-11-18T12:00:00Z',
    creationDate: '2026-11-18T12:00:00Z',
  },
});

/** authentik/stages/authenticator_sms/models.py of goauthentik/authentik. */
export const authentikPayload = (to: string, token: string) => ({
  From: 'ACME',
  To: to,
  Body: token,
  Message: `Use this code to authenticate in authentik: ${token}`,
});

/** The name of the code in courier/template/sms of ory/kratos. A recovery has that of a verification. */
export const kratosCodes = {
  login_code_valid: 'login_code',
  registration_code_valid: 'registration_code',
  verification_code_valid: 'verification_code',
  recovery_code_valid: 'verification_code',
} as const;

/** courier/http_channel.go and courier/template/sms of ory/kratos: what its jsonnet gets as `ctx`. */
export const kratosContext = (to: string, type: keyof typeof kratosCodes, code: string) => ({
  recipient: to,
  subject: '',
  body: `Your code is: ${code}\n`,
  template_type: type,
  template_data: {
    to,
    [kratosCodes[type]]: code,
    identity: { id: '9f425a8d-7efc-4768-8f23-7647a74fdf13', traits: { phone: to } },
    request_url: 'https://id.example.com/self-service/login/browser',
    request_url_domain: 'id.example.com',
    transient_payload: {},
    expires_in_minutes: 15,
  },
  message_type: 'sms',
  request_headers: null,
});

export type { Sender };
