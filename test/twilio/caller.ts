import assert from 'node:assert/strict';
import type { TestApp } from '../support/app.ts';
import type { TestApplication } from '../support/applications.ts';
import { type Answer, send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { exchange } from '../support/http.ts';
import { createSender, type Page, type Sender, type SenderOptions } from '../support/texts.ts';

export interface AccountBody {
  account_sid: string;
  service_sid: string;
  messaging_service_sid: string;
  base_url: string;
  tokens: { created_at: string; ends_at: string | null }[];
}

export interface NewAccountBody extends AccountBody {
  auth_token: string;
}

/** An error as Twilio writes it. */
export interface TwilioErrorBody {
  code: number;
  message: string;
  more_info: string;
  status: number;
}

export type Form = Record<string, string> | [string, string][];

/** An application with credentials of Twilio's shape. */
export interface TwilioCaller extends Sender {
  account: NewAccountBody;
  /** Where its portal calls go. */
  path: string;
  /** The header that its requests are sent with. */
  basic: string;
  /** Sends a form to a path below /twilio. */
  post<Body = Record<string, unknown>>(path: string, form: Form, basic?: string): Promise<Answer<Body>>;
  get<Body = Record<string, unknown>>(path: string, basic?: string): Promise<Answer<Body>>;
  /** Below its own service, and below its own account. */
  verify: string;
  messages: string;
  /** The codes on a phone, newest first, once there are that many texts. */
  codes(to: string, atLeast?: number): Promise<string[]>;
  newNumber(): string;
}

let numbers = 7_400_700_000;

export function basicOf(sid: string, token: string): string {
  return `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`;
}

/** Makes the credentials of an application. */
export async function createTwilioAccount({ developer, id }: Pick<TestApplication, 'developer' | 'id'>) {
  const { status, body } = await developer.send<NewAccountBody>('POST', `/portal/v1/applications/${id}/twilio`);
  assert.equal(status, 201, JSON.stringify(body));
  return { account: body, basic: basicOf(body.account_sid, body.auth_token) };
}

export async function createTwilioCaller(app: TestApp, options: SenderOptions = {}): Promise<TwilioCaller> {
  const sender = await createSender(app, options);
  const path = `/portal/v1/applications/${sender.id}/twilio`;
  const { account, basic: own } = await createTwilioAccount(sender);
  return {
    ...sender,
    ...{ account, path, basic: own },
    post: (target, form, basic = own) => sendTwilioForm(app, target, form, basic),
    get: (target, basic = own) => send(app, 'GET', `/twilio${target}`, { headers: { authorization: basic } }),
    verify: `/v2/Services/${account.service_sid}`,
    messages: `/2010-04-01/Accounts/${account.account_sid}/Messages`,
    async codes(to, atLeast = 1) {
      const inbox = `/sandbox/v1/inbox?to=${encodeURIComponent(to)}&limit=100`;
      const texts = await eventually(`${atLeast} texts`, async () => {
        const { body } = await send<Page<{ text: string }>>(app, 'GET', inbox, { headers: sender.key });
        return body.data.length >= atLeast && body.data;
      });
      return texts.map(({ text }) => /(?<![0-9])[0-9]{4,10}(?![0-9])/.exec(text)?.[0] ?? '');
    },
    newNumber: () => `+44${numbers++}`,
  };
}

export async function sendTwilioForm<Body = Record<string, unknown>>(
  app: { url: string },
  target: string,
  form: Form,
  basic: string,
): Promise<Answer<Body>> {
  const answer = await exchange(`${app.url}/twilio${target}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', authorization: basic },
    body: new URLSearchParams(form).toString(),
  });
  return { ...answer, body: JSON.parse(answer.body) };
}

export const otherCode = (code: string) => String((Number(code[0]) + 1) % 10) + code.slice(1);

/** An error that must have this shape, with its number. */
export function assertTwilioError(answer: Answer<unknown>, expected: { status: number; code: number }): void {
  const { status, headers } = answer;
  const body = answer.body as TwilioErrorBody;
  assert.deepEqual(Object.keys(body), ['code', 'message', 'more_info', 'status']);
  assert.deepEqual({ status, code: body.code }, expected, JSON.stringify(body));
  assert.equal(body.status, status);
  for (const name of ['x-correlation-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
    assert.ok(headers.has(name), name);
}
