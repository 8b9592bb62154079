// A shop that texts its customers about orders, and always knows what became of each text: by webhooks while it runs, and
// from the feed for what happened while it did not.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Heliograph, HeliographError, SignatureError, verifyWebhook } from '@heliograph/client';
import { openJournal } from './journal.mjs';

const heliograph = new Heliograph();
const secret = process.env.HELIOGRAPH_WEBHOOK_SECRET ?? '';
const journal = openJournal(process.env.JOURNAL ?? 'order-updates.jsonl');

const texts = {
  packed: (order) => `Your order ${order} is packed.`,
  shipped: (order) => `Your order ${order} has left our house.`,
};

/** Sends a text about an order. The key makes it one text, however often this is called. */
async function tellCustomer({ order, state, to }) {
  const message = texts[state]?.(order);
  if (message === undefined) throw new TypeError(`state must be ${Object.keys(texts).join(' or ')}`);
  const idempotencyKey = `order-${order}-${state}`;
  return heliograph.sms.send({ to, from: 'ACME', message, reference: String(order) }, { idempotencyKey });
}

/** Reads all that happened behind the kept cursor. The first time it only learns where to begin. */
async function catchUp() {
  for (;;) {
    const { data, next_cursor: cursor } = await heliograph.sms.events.read({ cursor: journal.cursor, limit: 100 });
    for (const event of data) journal.keep(event);
    journal.moveTo(cursor);
    if (data.length < 100) return;
  }
}

async function catchUpOrStartAnew() {
  try {
    await catchUp();
  } catch (error) {
    if (!(error instanceof HeliographError) || error.code !== 'CURSOR_EXPIRED') throw error;
    // We were away for longer than events are kept: begin at now, then read each open text itself.
    journal.moveTo(undefined);
    await catchUp();
    for (const id of journal.openTexts()) journal.keepRecord(await heliograph.sms.get(id));
  }
}

const routes = {
  'POST /orders': async (request) => {
    const { id, status } = await tellCustomer(JSON.parse((await buffer(request)).toString()));
    return { status: 202, body: { id, status } };
  },
  'GET /orders': async (request) => {
    const order = new URL(request.url, 'http://shop').searchParams.get('order');
    return { status: 200, body: journal.textsOf(order) };
  },
  'POST /heliograph': async (request) => {
    // The bytes as they came: a JSON parser would change them, and the signature with them.
    const event = await verifyWebhook(request.headers, await buffer(request), secret);
    journal.keep(event);
    // Answer only when the event is kept: without a 2xx it comes again.
    return { status: 204 };
  },
};

const server = createServer(async (request, response) => {
  const name = `${request.method} ${new URL(request.url, 'http://shop').pathname}`;
  const answer = await (routes[name]?.(request) ?? Promise.resolve({ status: 404 })).catch(refusal);
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
});

function refusal(error) {
  if (error instanceof SignatureError) return { status: 401, body: { message: error.message } };
  if (error instanceof SyntaxError || error instanceof TypeError)
    return { status: 400, body: { message: error.message } };
  if (error instanceof HeliographError && error.status < 500)
    return { status: error.status, body: { message: error.message } };
  console.error(error);
  return { status: 503, body: { message: 'Please try again.' } };
}

// Catch up before the first text is sent, so that no event of it can be missed; and now and then, should a webhook be lost.
await catchUpOrStartAnew();
setInterval(() => catchUpOrStartAnew().catch((error) => console.error(error.message)), 300_000).unref();
server.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}`);
});
