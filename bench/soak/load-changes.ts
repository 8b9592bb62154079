import { setTimeout as pause } from 'node:timers/promises';
import type { TestClient } from '../../test/support/applications.ts';
import type { Client, Reply } from './client.ts';
import type { Ledger } from './ledger.ts';
import { requestToken, useToken } from './tokens.ts';
import { planNumbers, type World } from './world.ts';

const preview = { method: 'POST' as const, path: '/sms/v1/messages/preview', json: { message: 'Hello' } };
/** More than the 60 that an application with a limit has. */
const burst = 75;
const granted = 60;

const plans = ['free', 'enterprise', 'pro'] as const;

/** Changes of plans and credentials, one after the other. Each must hold with the next request. */
export function createChangeAct(client: Client, { changing, run }: World, ledger: Ledger) {
  const headers = { cookie: changing.developer.cookie };
  const base = `/portal/v1/applications/${changing.id}`;
  /** Undefined after a change without an answer: the next one makes another. */
  let key: { secret: string; id: string } | undefined = { secret: changing.apiKey, id: changing.keyId };
  let credentials: TestClient | undefined = changing.client;
  let turn = 0;
  const act = async (method: 'POST' | 'DELETE', path: string, json?: object): Promise<Reply | undefined> => {
    const reply = await client.ask('portal', { method, path: base + path, headers, ...(json && { json }) });
    if (reply !== undefined && reply.status >= 300) throw new Error(`${path} was answered ${reply.status}`);
    return reply;
  };
  const lookAtKey = async (promise: string, secret: string, expected: number) => {
    const reply = await client.ask('preview', { ...preview, headers: { apikey: secret } });
    if (reply !== undefined) ledger.check(promise, reply.status === expected, () => `it was answered ${reply.status}`);
    return reply;
  };

  async function changePlan(): Promise<void> {
    const plan = plans[Math.floor(turn / acts.length) % plans.length] ?? 'pro';
    const changed = await act('POST', '/registrations', { api: 'sms', plan });
    if (changed === undefined || key === undefined) return;
    const reply = await lookAtKey('a live key is admitted', key.secret, 200);
    const limit = reply?.header('ratelimit-limit');
    if (reply !== undefined)
      ledger.check(
        'a new plan holds at once',
        Number(limit) === planNumbers[plan].per_minute,
        () => `${plan}: ${limit}`,
      );
  }

  /** Returns the one before. */
  async function makeKey(overlapSeconds: number): Promise<typeof key> {
    const old = key;
    key = undefined;
    const reply = await act('POST', '/keys', { overlap_seconds: overlapSeconds });
    if (reply === undefined) return undefined;
    key = { secret: String(reply.body.api_key), id: String(reply.body.id) };
    await lookAtKey('a live key is admitted', key.secret, 200);
    return old;
  }

  async function replaceKey(): Promise<void> {
    const old = await makeKey(0);
    if (old !== undefined) await lookAtKey('an ended key is refused at once', old.secret, 401);
  }

  async function deleteKey(): Promise<void> {
    const old = await makeKey(600);
    const deleted = old && (await act('DELETE', `/keys/${old.id}`));
    if (old !== undefined && deleted !== undefined) await lookAtKey('an ended key is refused at once', old.secret, 401);
  }

  async function replaceSecret(): Promise<void> {
    const scope = 'messaging:send';
    const application = credentials && { client: credentials };
    const token = application && (await requestToken(client, ledger, { application, scope }));
    credentials = undefined;
    const reply = await act('POST', '/client-secrets', { overlap_seconds: 0 });
    if (reply === undefined) return;
    const found = token && (await useToken(client, token))?.status;
    if (found !== undefined)
      ledger.check('a new secret ends the old tokens', found === 401, () => `a token was answered ${found}`);
    credentials = { client_id: changing.client.client_id, client_secret: String(reply.body.client_secret) };
    await requestToken(client, ledger, { application: { client: credentials }, scope });
  }

  const acts = [changePlan, replaceKey, replaceSecret, deleteKey];
  return {
    change: async () => acts[turn++ % acts.length]?.(),
    rotateSigningKeys: async () => void (await run('rotate-keys')),
  };
}

/** An application with a limit of 60 in a second (`hurried`) or in a minute (`frugal`). */
export interface Limited {
  apiKey: string;
  windowMs: number;
}

/** Goes over the limit, waits as long as Retry-After says, and must then be admitted. */
export function createLimitAct(client: Client, { apiKey, windowMs }: Limited, ledger: Ledger) {
  const ask = () => client.ask('limited', { ...preview, headers: { apikey: apiKey } });
  return async (): Promise<void> => {
    const startedMs = performance.now();
    let [untilMs, admitted] = [0, 0];
    const one = async () => {
      const reply = await ask();
      if (reply?.status === 200) admitted++;
      if (reply?.status !== 429) return;
      untilMs = Math.max(untilMs, performance.now() + 1000 * Number(reply.header('retry-after')));
    };
    await Promise.all(Array.from({ length: burst }, one));
    const windows = Math.floor((performance.now() - startedMs) / windowMs) + 1;
    const what = () => `${admitted} of ${burst} were admitted in ${windows} windows`;
    ledger.check('a limit admits no more than it says', admitted <= granted * windows, what);
    if (untilMs === 0) return;
    await pause(Math.max(0, untilMs - performance.now()));
    const reply = await ask();
    if (reply !== undefined)
      ledger.check(
        'a caller that waits Retry-After is admitted',
        reply.status === 200,
        () => `answered ${reply.status}`,
      );
  };
}
