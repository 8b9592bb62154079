import type { Server } from './server-process.ts';
import type { Store } from './store.ts';

/** An application with all that it needs to call any of the APIs. */
export interface Caller {
  applicationId: string;
  apiKey: string;
  client: { client_id: string; client_secret: string };
  verifyToken: string;
  messagingToken: string;
}

export const tokenPath = '/realms/heliograph/protocol/openid-connect/token';
const account = 'acc_bench';

/** Several of them: the limit of a plan is at most a million a minute, and one caller alone could get there. */
export async function makeCallers(store: Store, node: Server, count = 16): Promise<Caller[]> {
  await makeAccount(store);
  const callers: Caller[] = [];
  for (let i = 0; i < count; i++) {
    const { service } = store.registry;
    const made = await store.database.transaction(async (tx) => {
      const { id } = await service.createApplication(tx, account, `Bench ${i}`);
      const sms = await service.register(tx, id, 'sms', 'enterprise');
      const verify = await service.register(tx, id, 'verify', 'enterprise');
      await service.register(tx, id, 'messaging', 'enterprise');
      if (sms.credential?.type !== 'api_key' || verify.credential?.type !== 'client') throw new Error('no credential');
      const { clientId: client_id, clientSecret: client_secret } = verify.credential;
      return { applicationId: id, apiKey: sms.credential.apiKey, client: { client_id, client_secret } };
    });
    // In production registrations wait for an operator.
    for (const { id, status } of await service.listRegistrations(account, made.applicationId))
      if (status === 'pending') await service.approve(id);
    const [verifyToken, messagingToken] = await Promise.all([
      requestToken(node, made.client, 'verify:manage'),
      requestToken(node, made.client, 'messaging:send'),
    ]);
    callers.push({ ...made, verifyToken, messagingToken });
  }
  return callers;
}

/** One whose plan admits 60 a minute: everything beyond is a 429. */
export async function makeLimitedKey(store: Store): Promise<string> {
  await makeAccount(store);
  return store.database.transaction(async (tx) => {
    const { id } = await store.registry.service.createApplication(tx, account, 'Limited');
    const { credential } = await store.registry.service.register(tx, id, 'sms', 'free');
    if (credential?.type !== 'api_key') throw new Error('no key');
    return credential.apiKey;
  });
}

export async function makeAccount(store: Store): Promise<string> {
  await store.database.query(
    `insert into account (id, name, created_at) values ($1, 'bench@example.com', now()) on conflict (id) do nothing`,
    [account],
  );
  return account;
}

async function requestToken({ port }: Server, client: Caller['client'], scope: string): Promise<string> {
  const form = { grant_type: 'client_credentials', scope: `openid ${scope}`, ...client };
  const response = await fetch(`http://127.0.0.1:${port}${tokenPath}`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  if (response.status !== 200) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}
