import twilio from 'twilio';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import type { SenderOptions } from '../support/texts.ts';
import { createTwilioCaller, type NewAccountBody } from './caller.ts';

/** The official library, pointed at the service. */
export function libraryOf(app: TestApp, { account_sid, auth_token }: NewAccountBody, sid = account_sid) {
  const client = twilio(sid, auth_token, { accountSid: account_sid });
  client.verify.baseUrl = `${app.url}/twilio`;
  client.api.baseUrl = `${app.url}/twilio`;
  return client;
}

export async function createTwilioWorld(options: TestAppOptions = {}, sender: SenderOptions = {}) {
  const app = await createTestApp(options);
  const acme = await createTwilioCaller(app, sender);
  return { app, acme, client: libraryOf(app, acme.account), close: () => app.close() };
}

export type TwilioWorld = Awaited<ReturnType<typeof createTwilioWorld>>;
