import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Reply } from './client.ts';
import type { Ledger } from './ledger.ts';
import type { Outcome } from './record-book.ts';
import type { TokenKeeper } from './tokens.ts';
import type { World } from './world.ts';

export interface TextActs {
  send(dueMs: number): Promise<void>;
  sendBatch(dueMs: number): Promise<void>;
  read(dueMs: number): Promise<void>;
  list(dueMs: number): Promise<void>;
}

const path = '/sms/v1/messages';
const batchSize = 5;
/** The number of ids that are kept for reads. */
const mostRecent = 500;
const longEvery = 20;
const canceledEvery = 40;
const mostCancels = 10;
const againAfterMs = 500;
const repeatedEvery = 50;
const hourMs = 3_600_000;

export function createTextActs(client: Client, { shop }: World, tokens: TokenKeeper, ledger: Ledger): TextActs {
  const { texts } = ledger;
  const byKey = { apikey: shop.apiKey };
  const recent: string[] = [];
  let [reads, lists] = [0, 0];
  const bodyOf = (number: number) => ({
    to: `+4477${String(number % 1e8).padStart(8, '0')}`,
    from: 'ACME',
    message: `Soak text ${number} ${number % longEvery === 0 ? 'and many more words '.repeat(12) : 'is here.'}`,
    reference: `t${number}`,
  });
  const note = (number: number, reply: Reply | undefined, isAccepted: boolean) => {
    const outcome: Outcome = reply === undefined ? 'unknown' : isAccepted ? 'accepted' : 'refused';
    texts.note(number, outcome);
    if (reply !== undefined)
      ledger.check('a good text is accepted', isAccepted, () => `text ${number} was answered ${reply.status}`);
  };

  /** Asked again until it is answered: a text that stayed scheduled would not end within the run. */
  async function cancel(id: string): Promise<void> {
    const text = { path: `${path}/${id}`, headers: byKey };
    for (let tries = 1; tries <= mostCancels; tries++) {
      if (tries > 1) await pause(againAfterMs);
      const reply = await client.ask('cancel', { ...text, method: 'DELETE' });
      // A try without an answer may have canceled it.
      const found = reply?.status === 409 && tries > 1 ? await client.ask('read', text) : reply;
      if (found === undefined) continue;
      const isDone = found.status === 200 && found.body.status === 'canceled';
      ledger.check('a scheduled text can be canceled', isDone, () => `${found.status} ${found.body.status}`);
      return;
    }
  }

  async function repeat(number: number, ask: Parameters<Client['ask']>[1], first: Reply): Promise<void> {
    const { dueMs: _, ...again } = ask;
    const reply = await client.ask('text', again);
    if (reply === undefined) return;
    const isSame = reply.body.id === first.body.id && reply.header('idempotency-replayed') === 'true';
    ledger.check('a repeated request makes no second text', isSame, () => `text ${number}: ${reply.status}`);
  }

  return {
    async send(dueMs) {
      const number = texts.newNumber();
      const isCanceled = number % canceledEvery === 1;
      const later = isCanceled ? { send_at: new Date(Date.now() + hourMs).toISOString() } : {};
      const headers = { ...byKey, 'idempotency-key': `text-${number}` };
      const ask = { method: 'POST' as const, path, headers, json: { ...bodyOf(number), ...later }, dueMs };
      const reply = await client.ask('text', ask);
      note(number, reply, reply?.status === 201);
      if (reply?.status !== 201) return;
      recent.push(reply.body.id);
      if (recent.length > mostRecent) recent.shift();
      if (isCanceled) await cancel(reply.body.id);
      else if (number % repeatedEvery === 2) await repeat(number, ask, reply);
    },
    async sendBatch(dueMs) {
      const numbers = Array.from({ length: batchSize }, () => texts.newNumber());
      const reply = await client.ask('batch', {
        method: 'POST',
        path: '/messaging/v1/messages/batch',
        headers: tokens.headers('messaging:send'),
        json: { messages: numbers.map(bodyOf) },
        dueMs,
      });
      const records: { id?: string }[] = reply?.status === 200 ? reply.body.data : [];
      for (const [index, number] of numbers.entries()) note(number, reply, records[index]?.id !== undefined);
    },
    async read(dueMs) {
      const id = recent[(reads++ * 97) % Math.max(1, recent.length)];
      if (id === undefined) return;
      const reply = await client.ask('read', { path: `${path}/${id}`, headers: byKey, dueMs });
      if (reply !== undefined) ledger.check('an accepted text can be read', reply.body.id === id, () => id);
    },
    async list(dueMs) {
      const verify = tokens.headers('verify:manage');
      const asks = [
        { path: `${path}?limit=20`, headers: byKey },
        { path: '/verify/v1/verifications?limit=20', headers: verify },
        { path: `${path}?status=delivered&limit=20`, headers: byKey },
        { path: '/sandbox/v1/inbox?limit=20', headers: byKey },
        { path: `/portal/v1/applications/${shop.id}/usage?step=minute`, headers: { cookie: shop.developer.cookie } },
        { path: `/portal/v1/applications/${shop.id}/messages?limit=20`, headers: { cookie: shop.developer.cookie } },
      ];
      const ask = asks[lists++ % asks.length];
      const reply = ask && (await client.ask('list', { ...ask, dueMs }));
      if (reply !== undefined)
        ledger.check('a list is answered', reply.status === 200, () => `${ask?.path}: ${reply.status}`);
    },
  };
}
