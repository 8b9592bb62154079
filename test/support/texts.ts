import assert from 'node:assert/strict';
import type { Api } from '../../src/http/route.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import type { TestApp } from './app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from './applications.ts';
import { type Answer, send, type TestDeveloper } from './developer.ts';
import { approveAll } from './operator.ts';

export interface TextRecord {
  id: string;
  to: string;
  from: string;
  message: string | null;
  channel: string;
  status: string;
  segments: { count: number; encoding: string; characters: number; remaining: number };
  reference: string | null;
  error: { code: string; message: string; permanent: boolean } | null;
  created_at: string;
  updated_at: string;
  sent_at: string | null;
  delivered_at: string | null;
  expires_at: string;
  possible_duplicates: number;
}

export interface Refusal {
  message: string;
  code: string;
  details: { field: string; message: string }[];
}

export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

/** An application with its credentials in hand: who sends and reads in the tests. */
export interface Sender extends TestApplication {
  key: Record<string, string>;
  token: Record<string, string>;
  /** Sends through the SMS API what `given` says, the rest being a text that is right. */
  sms(given?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer<TextRecord>>;
  /** The same through the Messaging API. */
  messaging(given?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer<TextRecord>>;
  readSms(id: string): Promise<TextRecord>;
}

export const text = { to: '+447700900123', from: 'ACME', message: 'Hello' };

export interface SenderOptions {
  plan?: string;
  apis?: Api[];
  /** Approves it: in production a registration waits for an operator. */
  operator?: TestDeveloper;
}

export async function createSender(
  app: TestApp,
  { plan = 'enterprise', apis = ['sms', 'verify', 'messaging'] as Api[], operator }: SenderOptions = {},
): Promise<Sender> {
  const made = await createRegistered(app, apis, plan);
  if (operator !== undefined) await approveAll(operator);
  const key = { apikey: made.apiKey };
  const token = apis.includes('messaging') ? bearer(await getToken(app, made.client, 'messaging:send')) : {};
  const post = (path: string, credential: Record<string, string>) => {
    return (given: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
      send<TextRecord>(app, 'POST', path, { body: { ...text, ...given }, headers: { ...credential, ...headers } });
  };
  return {
    ...made,
    key,
    token,
    sms: post('/sms/v1/messages', key),
    messaging: post('/messaging/v1/messages', token),
    async readSms(id) {
      const { status, body } = await send<TextRecord>(app, 'GET', `/sms/v1/messages/${id}`, { headers: key });
      assert.equal(status, 200);
      return body;
    },
  };
}

/** Every row of every table, as one text to search in. It may take longer than the service lets a statement take. */
export async function dumpAll(app: TestApp): Promise<string> {
  const session = await app.db.database.openSession(() => {}, { patient: true });
  const { rows } = await session.query<{ dump: string }>(
    `select coalesce(string_agg(query_to_xml('select * from ' || quote_ident(tablename), true, true, '')::text, ''), '') as dump
     from pg_tables where schemaname = 'public'`,
  );
  await session.close();
  return rows[0]?.dump ?? '';
}

export async function countMessages(app: TestApp, applicationId: string): Promise<number> {
  const { rows } = await app.db.database.query<{ count: number }>(
    'select count(*) as count from message where application_id = $1',
    [uuidOf(applicationId)],
  );
  return rows[0]?.count ?? 0;
}
