import assert from 'node:assert/strict';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { bearer, getToken } from './applications.ts';
import { type Answer, send, type TestDeveloper } from './developer.ts';
import { eventually } from './eventually.ts';
import { createOperator } from './operator.ts';
import { createSender, type Sender, type SenderOptions } from './texts.ts';
import type { VerificationBody } from './verify-caller.ts';

/** A production node with one carrier, whose worker stands still. */
export interface Production {
  app: TestApp;
  operator: TestDeveloper;
  /** An application with approved registrations. */
  createCaller(options?: SenderOptions): Promise<Caller>;
}

export interface Caller extends Sender {
  start(to: string, given?: object, headers?: Record<string, string>): Promise<Answer<VerificationBody & Refused>>;
  /** Asks for a sender; an operator approves it as given. */
  hold(sender: string, countries?: string[], approval?: object): Promise<string>;
}

interface Refused {
  code?: string;
  message?: string;
  details?: { field: string; message: string }[];
}

export async function createProduction(options: TestAppOptions = {}): Promise<Production> {
  const env = { HELIOGRAPH_ENV: 'production', ...options.env };
  const app = await createTestApp({ delivery: 'held', ...options, env });
  const operator = await createOperator(app);
  const settings = { host: '127.0.0.1', system_id: 'me' };
  const carrier = { name: 'acme', kind: 'smpp', settings };
  assert.equal((await operator.send('POST', '/portal/v1/operator/carriers', carrier)).status, 201);
  await knowsCarrier(app);

  return {
    app,
    operator,
    async createCaller(given) {
      const sender = await createSender(app, { ...given, operator });
      const isVerifier = (given?.apis ?? ['verify']).includes('verify');
      const token = isVerifier ? bearer(await getToken(app, sender.client, 'verify:manage')) : {};
      return {
        ...sender,
        start: (to, more = {}, headers = {}) =>
          send(app, 'POST', '/verify/v1/verifications', {
            body: { to, channel: 'sms', ...more },
            headers: { ...token, ...headers },
          }),
        async hold(name, countries = [], approval = {}) {
          const path = `/portal/v1/applications/${sender.id}/senders`;
          const asked = await sender.developer.send<{ id: string }>('POST', path, { sender: name, countries });
          assert.equal(asked.status, 201, JSON.stringify(asked.body));
          const decided = `/portal/v1/operator/senders/${asked.body.id}/approve`;
          assert.equal((await operator.send('POST', decided, approval)).status, 200);
          return asked.body.id;
        },
      };
    },
  };
}

export async function knowsCarrier(app: TestApp): Promise<void> {
  await eventually('the node to know its carrier', () => app.app.carriers().length > 0);
}

/** What a message is sent as. */
export async function senderOf(app: TestApp, messageId: string): Promise<string | undefined> {
  const { rows } = await app.db.database.query<{ sender: string }>('select sender from message where id = $1', [
    uuidOf(messageId),
  ]);
  return rows[0]?.sender;
}

/** What an application has spent today, as the row says. */
export async function spendRow(app: TestApp, applicationId: string) {
  const { rows } = await app.db.database.query<{ segments: number; most: number; alerted: number }>(
    'select segments, most, alerted from spend_day where application_id = $1 order by day desc limit 1',
    [uuidOf(applicationId)],
  );
  return rows[0];
}
