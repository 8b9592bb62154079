import { setTimeout as pause } from 'node:timers/promises';
import { createWebhookReceiver, verifies, type WebhookReceiver } from '../../test/support/webhook-receiver.ts';
import type { Client } from './client.ts';
import type { WebhookEndpoint } from './faults.ts';
import { type Ledger, type Listener, listeners } from './ledger.ts';
import { readNumber } from './record-book.ts';
import type { World } from './world.ts';

/** Every receiver of the shop's events: a reader of the feed, one of the stream, and an endpoint. */
export interface Listening {
  /** When the last event was received. */
  lastReceivedMs(): number;
  stop(): Promise<void>;
}

interface Event {
  id: string;
  sequence: number;
  reference: string | null;
  subject: string;
}

const pageSize = 100;
/** A page that is not full is followed by a pause: to read single events costs more than the events. */
const breathMs = 400;
const reconnectAfterMs = 45_000;
/** Of this many calls, one has its signature checked. */
const verifyEvery = 200;

interface Parts {
  client: Client;
  world: World;
  ledger: Ledger;
  endpoint: WebhookEndpoint;
  fail(error: unknown): void;
}

export async function startListening(parts: Parts): Promise<Listening> {
  const { client, world, ledger } = parts;
  let lastReceivedMs = performance.now();
  const hear = (listener: Listener, { reference, sequence }: Event) => {
    lastReceivedMs = performance.now();
    const text = readNumber('t', reference);
    const code = readNumber('v', reference);
    if (text === undefined && code === undefined) return;
    const book = text === undefined ? ledger.codes : ledger.texts;
    const isNew = book.hear(listeners[listener], text ?? code ?? 0, sequence);
    // A webhook may be called again when its answer was lost or bad; feed and stream repeat nothing.
    if (listener === 'webhook')
      ledger.count(isNew ? 'events received by the webhook' : 'events received by the webhook again');
    else ledger.check(`the ${listener} has no event twice`, isNew, () => `event ${sequence} of ${reference}`);
  };
  const stopping = new AbortController();
  const headers = { apikey: world.shop.apiKey };
  const first = await client.ask('feed', { path: '/events/v1/events', headers });
  const cursor = String(first?.body.next_cursor);
  const receiver = await openEndpoint(parts, hear);
  const reading = [
    readFeed(parts, cursor, stopping.signal, hear).catch(parts.fail),
    readStream(parts, cursor, stopping.signal, hear).catch(parts.fail),
  ];
  return {
    lastReceivedMs: () => lastReceivedMs,
    async stop() {
      stopping.abort();
      await Promise.all(reading);
      await receiver.close();
    },
  };
}

type Hear = (listener: Listener, event: Event) => void;

async function readFeed({ client, world }: Parts, from: string, signal: AbortSignal, hear: Hear): Promise<void> {
  const headers = { apikey: world.shop.apiKey };
  for (let cursor = from; !signal.aborted; ) {
    const query = new URLSearchParams({ cursor, limit: String(pageSize), wait_seconds: '2' });
    const reply = await client.ask('feed', { path: `/events/v1/events?${query}`, headers, isTimed: false });
    if (reply !== undefined && reply.status !== 200) throw new Error(`the feed answered ${reply.status}`);
    const events: Event[] = reply?.body.data ?? [];
    for (const event of events) hear('feed', event);
    cursor = reply?.body.next_cursor ?? cursor;
    if (events.length < pageSize) await pause(breathMs);
  }
}

/** Reconnects now and then with the id of the last event, as a browser does after a lost connection. */
async function readStream({ client, world }: Parts, from: string, signal: AbortSignal, hear: Hear): Promise<void> {
  let last = from;
  while (!signal.aborted) {
    const own = AbortSignal.any([signal, AbortSignal.timeout(reconnectAfterMs)]);
    const headers = { apikey: world.shop.apiKey, 'last-event-id': last };
    let text = '';
    try {
      for await (const piece of await client.open('/events/v1/stream', headers, own)) {
        text += piece.toString('latin1');
        const whole = text.lastIndexOf('\n\n');
        if (whole === -1) continue;
        for (const block of text.slice(0, whole).split('\n\n')) {
          last = /^id: ?(.*)$/m.exec(block)?.[1] ?? last;
          const data = /^data: ?(.*)$/m.exec(block)?.[1];
          if (data !== undefined && data !== '') hear('stream', JSON.parse(data) as Event);
        }
        text = text.slice(whole + 2);
      }
    } catch (error) {
      if (!own.aborted) throw error;
    }
  }
}

async function openEndpoint({ world, ledger, endpoint }: Parts, hear: Hear): Promise<WebhookReceiver> {
  const { developer, id } = world.shop;
  let secret = '';
  let calls = 0;
  const receiver = await createWebhookReceiver((call, response) => {
    receiver.calls.length = 0;
    if (calls++ % verifyEvery === 0)
      ledger.check('a call of a webhook is signed', verifies(secret, call), () => call.event.id);
    if (endpoint.status === undefined) hear('webhook', call.event);
    response.writeHead(endpoint.status ?? 204).end();
  });
  const path = `/portal/v1/applications/${id}/webhooks`;
  const { status, body } = await developer.send('POST', path, { url: receiver.url });
  if (status !== 201) throw new Error(`the webhook was answered ${status} ${JSON.stringify(body)}`);
  secret = String(body.secret);
  return receiver;
}
