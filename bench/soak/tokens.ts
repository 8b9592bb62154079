import { setTimeout as pause } from 'node:timers/promises';
import { bearer, type TestApplication } from '../../test/support/applications.ts';
import type { Client } from './client.ts';
import type { Ledger } from './ledger.ts';
import type { World } from './world.ts';

const identity = '/realms/heliograph/protocol/openid-connect';

export type ApiScope = 'verify:manage' | 'messaging:send';

interface TokenRequest {
  application: Pick<TestApplication, 'client'>;
  scope: ApiScope;
  dueMs?: number;
}

/** Asks for a token; undefined when there is none. */
export async function requestToken(
  client: Client,
  ledger: Ledger,
  { application, scope, dueMs = performance.now() }: TokenRequest,
): Promise<string | undefined> {
  const form = { grant_type: 'client_credentials', scope: `openid ${scope}`, ...application.client };
  const reply = await client.ask('token', { method: 'POST', path: `${identity}/token`, form, dueMs });
  if (reply === undefined) return undefined;
  ledger.check('a right secret gets a token', reply.status === 200, () => `it was answered ${reply.status}`);
  return reply.status === 200 ? String(reply.body.access_token) : undefined;
}

/** A request that costs the service next to nothing, to see whether a credential is admitted. */
export function useToken(client: Client, token: string) {
  const json = { from: 'ACME', message: 'Hello' };
  return client.ask('preview', {
    method: 'POST',
    path: '/messaging/v1/messages/preview',
    headers: bearer(token),
    json,
  });
}

/** Headers with a token of the shop that still lives, as a good client keeps one. */
export interface TokenKeeper {
  headers(scope: ApiScope): Record<string, string>;
  stop(): void;
}

export async function startTokenKeeper(
  client: Client,
  world: World,
  ledger: Ledger,
  tokenSeconds: number,
): Promise<TokenKeeper> {
  const current = new Map<ApiScope, Record<string, string>>();
  const renew = async () => {
    for (const scope of ['verify:manage', 'messaging:send'] as const) {
      const token = await requestToken(client, ledger, { application: world.shop, scope });
      if (token !== undefined) current.set(scope, bearer(token));
    }
  };
  await renew();
  const timer = setInterval(() => void renew(), tokenSeconds * 500);
  return { headers: (scope) => current.get(scope) ?? {}, stop: () => clearInterval(timer) };
}

/** Tokens as many programs ask for them; every fourth is used, revoked and used again. */
export function createTokenAct(client: Client, world: World, ledger: Ledger) {
  let asked = 0;
  return async (dueMs: number): Promise<void> => {
    const isRevoked = asked++ % 4 === 0;
    const token = await requestToken(client, ledger, { application: world.shop, scope: 'messaging:send', dueMs });
    if (token === undefined || !isRevoked) return;
    const before = await useToken(client, token);
    if (before !== undefined)
      ledger.check('a new token is admitted', before.status === 200, () => `it was answered ${before.status}`);
    const form = { token, ...world.shop.client };
    const revoked = await client.ask('revoke', { method: 'POST', path: `${identity}/revoke`, form });
    if (revoked?.status !== 200) return;
    // Still so a moment later, when nodes have forgotten what they looked up.
    for (const waitMs of [0, 1500]) {
      await pause(waitMs);
      const after = await useToken(client, token);
      if (after === undefined) continue;
      const what = () => `it was answered ${after.status} ${waitMs} ms later`;
      ledger.check('a revoked token is refused at once', after.status === 401, what);
    }
  };
}
