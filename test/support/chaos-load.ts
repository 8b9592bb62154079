import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { bearer, type TestApplication } from './applications.ts';
import { inShort } from './effort.ts';
import { createHistory, type History } from './history.ts';

/** Callers who go on whatever breaks, and remember what they were promised. */
export interface ChaosLoad {
  history: History;
  /** The id that was answered for each key that a text was sent under. */
  sent: Map<string, string>;
  /** How often each verification was answered as approved. */
  approvals: Map<string, number>;
  /** Tokens whose revocation was answered. */
  revoked: number;
  revokedTokens: string[];
  stop(): Promise<void>;
}

export interface ChaosLoadOptions {
  nodes: { readonly url: string }[];
  own: TestApplication;
  random: () => number;
  /** The pause of each caller between two acts. */
  breathMs?: number;
}

const senders = inShort(3, 6);
/** Numbers whose code is known, so that a caller need not read it on a phone. */
const verifiers = inShort(2, 4);
const usualBreathMs = inShort(120, 10);

export function startChaosLoad({ nodes, own, random, breathMs = usualBreathMs }: ChaosLoadOptions): ChaosLoad {
  const history = createHistory();
  const load = {
    history,
    sent: new Map<string, string>(),
    approvals: new Map<string, number>(),
    revoked: 0,
    revokedTokens: [] as string[],
  };
  let stopped = false;
  let keys = 0;
  const anyNode = () => nodes[Math.floor(random() * nodes.length)]?.url ?? '';
  const post = <Body>(operation: string, path: string, headers: Record<string, string>, body: object, at = anyNode()) =>
    history.request<Body>(operation, at + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const form = <Body>(operation: string, endpoint: string, fields: Record<string, string>) =>
    history.request<Body>(operation, `${anyNode()}/realms/heliograph/protocol/openid-connect/${endpoint}`, {
      method: 'POST',
      body: new URLSearchParams({ ...own.client, ...fields }),
    });
  const newToken = async (scope: string) => {
    const fields = { grant_type: 'client_credentials', scope: `openid ${scope}` };
    return (await form<{ access_token: string }>('token', 'token', fields))?.body.access_token;
  };

  /** Under one key, again and again, until it is answered: then there is one text, and only one. */
  async function sendText(): Promise<void> {
    const key = `key-${keys++}`;
    const body = { to: '+447700900123', from: 'ACME', message: 'Hello', reference: key };
    while (!stopped) {
      const headers = { apikey: own.apiKey, 'Idempotency-Key': key };
      const reply = await post<{ id: string }>('send', '/sms/v1/messages', headers, body);
      if (reply?.status === 201) load.sent.set(key, reply.body.id);
      if (reply?.status === 201) return;
      // 409: the one before is still under way.
      assert.ok(reply === undefined || reply.status === 409, `a text was refused: ${reply?.status}`);
      await pause(100);
    }
  }

  /** Three right codes at the same moment: approved once at most, on any node. */
  async function verify(to: string): Promise<void> {
    const token = await newToken('verify:manage');
    if (token === undefined) return;
    const base = '/verify/v1/verifications';
    const started = await post<{ id: string }>('start', base, bearer(token), { to, channel: 'sms' });
    if (started === undefined) return;
    const { id } = started.body;
    const check = () => post<{ valid: boolean }>('check', `${base}/${id}`, bearer(token), { code: '123456' });
    const replies = await Promise.all([check(), check(), check()]);
    const approved = replies.filter((reply) => reply?.status === 200 && reply.body.valid).length;
    load.approvals.set(id, (load.approvals.get(id) ?? 0) + approved);
  }

  /** Once its revocation is answered, no node may admit the token. */
  async function revoke(): Promise<void> {
    const token = await newToken('messaging:send');
    if (token === undefined) return;
    const use = (at: string) => {
      const body = { from: 'ACME', message: 'Hello' };
      return post('use', '/messaging/v1/messages/preview', bearer(token), body, at);
    };
    await Promise.all(nodes.map(({ url }) => use(url)));
    if ((await form('revoke', 'revoke', { token })) === undefined) return;
    load.revoked++;
    load.revokedTokens.push(token);
    for (const reply of await Promise.all(nodes.map(({ url }) => use(url)))) {
      assert.ok(reply === undefined || reply.status === 401, `a revoked token was answered ${reply?.status}`);
    }
  }

  async function goOn(act: () => Promise<void>): Promise<void> {
    while (!stopped) {
      await act();
      await pause(breathMs);
    }
  }
  const callers = [
    ...Array.from({ length: senders }, () => goOn(sendText)),
    ...Array.from({ length: verifiers }, (_, number) => goOn(() => verify(`+1500555010${number}`))),
    goOn(revoke),
  ];
  // A promise that is broken is found when the load is stopped.
  for (const caller of callers) caller.catch(() => {});
  return {
    ...load,
    get revoked() {
      return load.revoked;
    },
    async stop() {
      stopped = true;
      await Promise.all(callers);
    },
  };
}
