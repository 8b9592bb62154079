import assert from 'node:assert/strict';
import type { Pdu, SubmitFields } from '../../src/smpp/pdu.ts';
import { connectRaw, type RawClient, textTo } from '../smpp/raw-client.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';

export interface AccountBody {
  id: string;
  system_id: string;
  password: string;
  binds: number;
  addresses: string[];
  bound: { id: string; mode: string; submits: number; throttled: number; refused: number; delivered: number }[];
  problems: { command: string; status: number; status_name: string; why: string }[];
  waiting: { count: number; since: string | null };
  passwords: { created_at: string; ends_at: string | null }[];
  settings: { host: string; port: number | null; tls_port: number | null; version: string };
}

export interface SmppCaller extends TestApplication {
  account: AccountBody;
}

export interface SmppWorld {
  app: TestApp;
  port: number;
  caller: SmppCaller;
  close(): Promise<void>;
}

export const accountsPath = ({ id }: { id: string }) => `/portal/v1/applications/${id}/smpp-accounts`;

export async function createAccount(
  application: TestApplication,
  body: { binds?: number; addresses?: string[] } = {},
): Promise<AccountBody> {
  const made = await application.developer.send<AccountBody>('POST', accountsPath(application), body);
  assert.equal(made.status, 201);
  return made.body;
}

export async function readAccount({ developer, id, account }: SmppCaller): Promise<AccountBody> {
  const { status, body } = await developer.send<AccountBody>('GET', `${accountsPath({ id })}/${account.id}`);
  assert.equal(status, 200);
  return body;
}

export async function createSmppCaller(app: TestApp, plan = 'enterprise', body: { binds?: number } = {}) {
  const application = await createRegistered(app, ['sms'], plan);
  return { ...application, account: await createAccount(application, body) };
}

/** The real app with a port for SMPP, and an application with an account. */
export async function createSmppWorld(options: TestAppOptions = {}, plan = 'enterprise'): Promise<SmppWorld> {
  const app = await createTestApp({
    manyConnections: true,
    ...options,
    env: { HELIOGRAPH_SMPP_PORT: '2775', ...options.env },
  });
  const caller = await createSmppCaller(app, plan);
  return { app, port: app.app.smpp.port ?? 0, caller, close: () => app.close() };
}

export function credentialsOf({ account }: SmppCaller) {
  return { systemId: account.system_id, password: account.password };
}

/** A client that is bound. */
export async function bound(
  { port }: { port: number },
  caller: SmppCaller,
  command: 'bind_receiver' | 'bind_transmitter' | 'bind_transceiver' = 'bind_transceiver',
): Promise<RawClient> {
  const client = await connectRaw(port);
  const answer = await client.bind(command, credentialsOf(caller));
  assert.equal(answer.status, 0, `the bind is admitted, not 0x${answer.status.toString(16)}`);
  return client;
}

/** The status of a text with these fields. */
export async function statusOf(client: RawClient, fields: Partial<SubmitFields>): Promise<number> {
  const { status, messageId } = await client.submit(fields);
  assert.equal(messageId === '', status !== 0, 'an id comes with success, and with nothing else');
  return status;
}

let sequence = 1000;

/** Sends submits at once, and returns their answers in the order of the submits, in whichever order they come. */
export async function submitMany(client: RawClient, texts: Partial<SubmitFields>[]) {
  for (const fields of texts) {
    const pdu: Pdu = { ...textTo('447700900123'), ...fields, command: 'submit_sm', status: 0, sequence: ++sequence };
    client.send(pdu);
  }
  const answers = [];
  for (let taken = 0; taken < texts.length; taken++) answers.push(await client.take('submit_sm_resp'));
  return answers.sort((a, b) => a.sequence - b.sequence);
}
