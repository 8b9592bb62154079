import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { bearer, type TestApplication } from './applications.ts';
import type { ChaosLoad } from './chaos-load.ts';

/** Callers with wrong codes, keys that come and go, and dead credentials, beside the load of texts, right codes and revocations. */
export interface HaCallers {
  /** Wrong codes that were answered, by verification. */
  wrong: Map<string, number>;
  /** Keys whose deletion was answered. */
  deleted: string[];
  /** How often a dead credential was refused. */
  refused(): number;
  /** Rejects if a dead one was admitted. */
  stop(): Promise<void>;
}

interface HaCallersOptions {
  nodes: { readonly url: string }[];
  own: TestApplication;
  otherId: string;
  load: ChaosLoad;
}

/** Tries the newest: an old primary does not know that they are dead. */
const newest = 20;

export function startHaCallers({ nodes, own, otherId, load }: HaCallersOptions): HaCallers {
  const { history } = load;
  const wrong = new Map<string, number>();
  const deleted: string[] = [];
  let [stopped, refused] = [false, 0];
  const at = (turn: number) => nodes[turn % nodes.length]?.url ?? '';
  const send = <Body>(operation: string, method: string, url: string, headers: Record<string, string>, body?: object) =>
    history.request<Body>(operation, url, {
      method,
      headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });

  async function guess(turn: number): Promise<void> {
    const scope = 'openid verify:manage';
    const body = new URLSearchParams({ ...own.client, grant_type: 'client_credentials', scope });
    const path = '/realms/heliograph/protocol/openid-connect/token';
    const token = await history.request<{ access_token: string }>('token', at(turn) + path, { method: 'POST', body });
    if (token?.status !== 200) return;
    const headers = bearer(token.body.access_token);
    const base = '/verify/v1/verifications';
    const to = `+1500555010${5 + (turn % 5)}`;
    const started = await send<{ id: string }>('start', 'POST', at(turn) + base, headers, { to, channel: 'sms' });
    if (started?.status !== 200) return;
    const { id } = started.body;
    for (const n of [0, 1]) {
      const address = `${at(turn + n)}${base}/${id}`;
      const reply = await send<{ reason: string }>('guess', 'POST', address, headers, { code: '000000' });
      if (reply?.status === 200 && reply.body.reason === 'incorrect_code') wrong.set(id, (wrong.get(id) ?? 0) + 1);
    }
  }

  const useKey = (turn: number, apikey: string) =>
    send('list', 'GET', `${at(turn)}/sms/v1/messages?limit=1`, { apikey });

  async function changeKeys(turn: number): Promise<void> {
    const keys = `/portal/v1/applications/${otherId}/keys`;
    const { cookie } = own.developer;
    const made = await send<{ id: string; api_key: string }>(
      'key',
      'POST',
      at(turn) + keys,
      { cookie },
      { name: 'drill' },
    );
    if (made?.status !== 201) return;
    const { id, api_key: key } = made.body;
    await Promise.all(nodes.map((_, place) => useKey(place, key)));
    const gone = await send('delete', 'DELETE', `${at(turn)}${keys}/${id}`, { cookie });
    if (gone?.status !== 204 && gone?.status !== 200) return;
    deleted.push(key);
    for (const [place] of nodes.entries()) mustRefuse('a deleted key', await useKey(place, key));
  }

  async function tryDead(turn: number): Promise<void> {
    const token = load.revokedTokens.at(-1 - (turn % newest));
    const key = deleted.at(-1 - (turn % newest));
    const path = '/messaging/v1/messages/preview';
    const body = { from: 'ACME', message: 'Hello' };
    for (const [place] of nodes.entries()) {
      if (key !== undefined) mustRefuse('a deleted key', await useKey(place, key));
      if (token === undefined) continue;
      mustRefuse('a revoked token', await send('use', 'POST', at(place) + path, bearer(token), body));
    }
  }

  /** No answer, and a 503, are no admission. */
  function mustRefuse(what: string, reply: { status: number } | undefined): void {
    assert.ok(reply === undefined || reply.status === 401, `${what} was answered ${reply?.status}`);
    if (reply !== undefined) refused++;
  }

  async function goOn(act: (turn: number) => Promise<void>, everyMs: number): Promise<void> {
    for (let turn = 0; !stopped; turn++) {
      await act(turn);
      await pause(everyMs);
    }
  }
  const running = Promise.all([goOn(guess, 500), goOn(changeKeys, 500), goOn(tryDead, 200)]);
  // A promise that is broken is found when they are stopped.
  running.catch(() => {});
  return {
    wrong,
    deleted,
    refused: () => refused,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
