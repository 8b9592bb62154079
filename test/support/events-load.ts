import { Agent, request } from 'node:http';

export interface EventsLoadOptions {
  nodes: { readonly url: string }[];
  apiKey: string;
  /** The headers of tokens. */
  tokens: { verify: Record<string, string>; messaging: Record<string, string> };
  /** How many texts there are in a batch, which is every fifth act or so. */
  batchSize: number;
  /** How many texts and verifications. */
  count: number;
}

/** Callers who make records end in every way, and go on whatever breaks. */
export interface EventsLoad {
  done(): number;
  /** How many requests had no answer, or a 503. */
  lost(): number;
  finished: Promise<void>;
}

interface Reply {
  status: number;
  body: { id: string };
}

const callers = 10;

export function startEventsLoad({ nodes, apiKey, tokens, batchSize, count }: EventsLoadOptions): EventsLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 * callers });
  let [next, acted, done, lost, turns] = [0, 0, 0, 0, 0];

  async function once(method: string, path: string, headers: Record<string, string>, body?: object) {
    const node = nodes[turns++ % nodes.length]?.url ?? '';
    const reply = await call(agent, method, node + path, headers, body).catch(() => undefined);
    if (reply !== undefined && reply.status !== 503) return reply;
    lost++;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return undefined;
  }

  /** Under one key, until it is answered. */
  async function sendUntilAccepted(
    path: string,
    headers: Record<string, string>,
    key: string,
    body: object,
  ): Promise<Reply> {
    for (;;) {
      const reply = await once('POST', path, { ...headers, 'Idempotency-Key': key }, body);
      if (reply?.status === 201 || reply?.status === 200) return reply;
      if (reply !== undefined && reply.status !== 409) throw new Error(`a text was answered ${reply.status}`);
    }
  }

  const text = (n: number, more: object) =>
    sendUntilAccepted('/sms/v1/messages', { apikey: apiKey }, `text-${n}`, {
      from: 'ACME',
      message: `Text ${n}`,
      ...more,
    });

  async function batch(n: number): Promise<void> {
    const messages = Array.from({ length: batchSize }, (_, index) => ({
      ...{ from: 'ACME', message: `Text ${index} of ${n}` },
      to: index % 20 === 7 ? '+15005550111' : numberOf(n * batchSize + index),
    }));
    await sendUntilAccepted('/messaging/v1/messages/batch', tokens.messaging, `batch-${n}`, { messages });
    done += batchSize - 1;
    next += batchSize - 1;
  }

  const numberOf = (n: number) => `+4477${String(n).padStart(8, '0')}`;
  const verifications = '/verify/v1/verifications';
  const start = (to: string) => once('POST', verifications, tokens.verify, { to, channel: 'sms' });
  const check = (id: string, code: string) => once('POST', `${verifications}/${id}`, tokens.verify, { code });

  const acts: ((n: number) => Promise<unknown>)[] = [
    (n) => batch(n),
    (n) => text(n, { to: numberOf(n) }),
    (n) => text(n, { to: '+15005550111' }),
    (n) => text(n, { to: '+15005550114' }),
    async (n) => {
      const send_at = new Date(Date.now() + 3_600_000).toISOString();
      const { body } = await text(n, { to: numberOf(n), send_at });
      while ((await once('DELETE', `/sms/v1/messages/${body.id}`, { apikey: apiKey })) === undefined);
    },
    async (n) => {
      // Numbers whose code is known.
      const reply = await start(`+1500555010${n % callers}`);
      if (reply?.status === 200) await check(reply.body.id, '123456');
    },
    async (n) => {
      const reply = await start(numberOf(n));
      if (reply?.status === 200) await once('DELETE', `${verifications}/${reply.body.id}`, tokens.verify);
    },
    async (n) => {
      const reply = await start(numberOf(n));
      for (let tries = 0; reply?.status === 200 && tries < 5; tries++) await check(reply.body.id, '000000');
    },
    (n) => batch(n),
    (n) => start(`+1500555011${n % 4 === 0 ? 3 : 2}`),
    async (n) => {
      const path = `/sms/v1/opt-outs/${encodeURIComponent(numberOf(n))}`;
      await once('PUT', path, { apikey: apiKey });
      await text(n, { to: numberOf(n) });
      if (n % 4 === 1) await once('DELETE', path, { apikey: apiKey });
    },
  ];

  async function keepOn(): Promise<void> {
    for (let n = next++; n < count; n = next++) {
      await acts[acted++ % acts.length]?.(n);
      done++;
    }
  }

  const finished = Promise.all(Array.from({ length: callers }, keepOn)).then(() => agent.destroy());
  // Its owner reads it in the end.
  finished.catch(() => {});
  return { done: () => done, lost: () => lost, finished };
}

function call(
  agent: Agent,
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const json = { ...headers, ...(body && { 'Content-Type': 'application/json' }) };
    const sent = request(url, { method, agent, headers: json, timeout: 15_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: text === '' ? { id: '' } : JSON.parse(text) });
      });
      response.on('error', reject);
      response.on('aborted', () => reject(new Error('cut off')));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}
