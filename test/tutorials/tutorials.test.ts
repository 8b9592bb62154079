// run: with commands
// The programs of docs/tutorials, as a reader runs them, with the real service.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Heliograph } from '@heliograph/client';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createRegistered, type TestApplication } from '../support/applications.ts';
import { createClient } from '../support/client.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { type Program, type Receiver, startReceiver } from '../support/guide-receivers.ts';
import { freePort, makeFolder } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const plans = JSON.stringify({ free: { per_minute: 2, burst: 2 } });

let app: TestApp;
let acme: TestApplication;
let heliograph: Heliograph;
const running: Program[] = [];
before(async () => {
  app = await createTestApp({
    clock: createRunningClock(),
    env: { HELIOGRAPH_PLANS: plans, HELIOGRAPH_RESEND_SECONDS: '120' },
  });
  acme = await createRegistered(app, ['sms', 'verify'], 'enterprise');
  heliograph = createClient(app, acme).heliograph;
});
after(async () => {
  await Promise.all(running.map((program) => program.stop()));
  await app.close();
});

function settingsOf({ apiKey, client }: TestApplication): Record<string, string> {
  return {
    HELIOGRAPH_URL: app.url,
    HELIOGRAPH_API_KEY: apiKey,
    HELIOGRAPH_CLIENT_ID: client.client_id,
    HELIOGRAPH_CLIENT_SECRET: client.client_secret,
  };
}

async function run(tutorial: string, env: Record<string, string>): Promise<Receiver> {
  const program = await startReceiver(join(root, 'docs/tutorials', tutorial), [process.execPath, 'server.mjs'], env);
  running.push(program);
  return program;
}

/** The newest text on a virtual handset. */
async function textOn(number: string): Promise<string> {
  const path = `/sandbox/v1/inbox?to=${encodeURIComponent(number)}&limit=1`;
  let found: string | undefined;
  await eventually('the text arrives', async () => {
    const { body } = await send<{ data: { text: string }[] }>(app, 'GET', path, { headers: { apikey: acme.apiKey } });
    found = body.data[0]?.text;
    return found !== undefined;
  });
  return found ?? '';
}

/** A browser, as far as forms and a cookie go. */
function createVisitor(url: string) {
  let cookie = '';
  async function go(
    method: string,
    path: string,
    form?: Record<string, string>,
  ): Promise<{ status: number; page: string }> {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { cookie },
      redirect: 'manual',
      ...(form && { body: new URLSearchParams(form) }),
    });
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
    const location = response.headers.get('location');
    if (location !== null) return go('GET', location);
    return { status: response.status, page: await response.text() };
  }
  return {
    open: (path: string) => go('GET', path),
    submit: (path: string, form: Record<string, string> = {}) => go('POST', path, form),
  };
}

describe('sign-up with Express', () => {
  let shop: Receiver;
  before(async () => {
    shop = await run('sign-up-with-express', { ...settingsOf(acme), DOMAIN: 'example.com' });
  });

  test('a number, a wrong code, the code again, the right code', async () => {
    const visitor = createVisitor(shop.url);
    assert.match((await visitor.open('/')).page, /type="tel"/);
    assert.match((await visitor.open('/code')).page, /type="tel"/, 'without a number there is no code');
    const wrongNumber = await visitor.submit('/number', { number: '<script>' });
    assert.equal(wrongNumber.status, 422);
    assert.match(wrongNumber.page, /with its country code/);
    const number = '+447700900123';
    assert.match(
      (await visitor.submit('/number', { number: '+44 7700 900123' })).page,
      /one-time-code.*OTPCredential/s,
    );
    const [, code = ''] = /@example\.com #(\d{6})$/.exec(await textOn(number)) ?? [];
    const wrong = code === '000000' ? '111111' : '000000';
    assert.match((await visitor.submit('/code', { code: wrong })).page, /You have 4 tries left/);
    assert.match((await visitor.submit('/code', { code: 'abc' })).page, /only digits/);
    assert.match((await visitor.submit('/resend')).page, /again in \d+ seconds\./);
    // Far below the five minutes by which a webhook may be early or late.
    app.clock.advance(120_000);
    assert.match((await visitor.submit('/resend')).page, /We have sent the code again/);
    const stranger = createVisitor(shop.url);
    assert.match((await stranger.submit('/code', { code })).page, /type="tel"/, 'a code belongs to its session');
    assert.match((await visitor.submit('/code', { code: ` ${code} ` })).page, /signed up with \+447700900123/);
    assert.match((await visitor.open('/')).page, /signed up with/);
    assert.match((await stranger.open('/')).page, /type="tel"/);
  });

  test('a number that gets no text, too many tries, an expired code', async () => {
    const visitor = createVisitor(shop.url);
    assert.match(
      (await visitor.submit('/number', { number: '+15005550112' })).page,
      /cannot send a code to this number/,
    );
    await visitor.submit('/number', { number: '+15005550101' });
    for (let left = 4; left > 0; left--)
      assert.match((await visitor.submit('/code', { code: '000000' })).page, new RegExp(`You have ${left} tr`));
    assert.match((await visitor.submit('/code', { code: '000000' })).page, /too many wrong codes.*type="tel"/s);
    await visitor.submit('/number', { number: '+15005550113' });
    app.clock.advance(3000);
    assert.match((await visitor.submit('/code', { code: '123456' })).page, /expired.*type="tel"/s);
  });

  test('at its limit it asks visitors to come back, and does not keep them waiting', async () => {
    const small = await createRegistered(app, ['verify'], 'free');
    const other = createClient(app, small).heliograph;
    for (let used = 0; used < 2; used++) await other.verify.explain('+15005550104');
    const busy = await run('sign-up-with-express', { ...settingsOf(small), PATIENCE_MS: '500' });
    const { status, page } = await createVisitor(busy.url).submit('/number', { number: '+15005550104' });
    assert.equal(status, 503);
    assert.match(page, /try again in a minute/);
  });
});

describe('order updates', () => {
  const journal = join(makeFolder('orders'), 'journal.jsonl');
  const eventsIn = () =>
    readFileSync(journal, 'utf8')
      .split('\n')
      .flatMap((line) => (line.includes('"event"') ? [JSON.parse(line).event as { id: string; type: string }] : []));
  let port: number;
  let shop: Receiver;
  let webhook: { id: string; secret: string };
  const path = () => `/portal/v1/applications/${acme.id}/webhooks`;
  const start = () =>
    run('order-updates', {
      ...settingsOf(acme),
      HELIOGRAPH_WEBHOOK_SECRET: webhook.secret,
      PORT: String(port),
      JOURNAL: journal,
    });
  const texts = async (order: string) => {
    const response = await fetch(new URL(`/orders?order=${order}`, shop.url));
    return (await response.json()) as { id: string; status: string }[];
  };
  const order = (body: object) => fetch(new URL('/orders', shop.url), { method: 'POST', body: JSON.stringify(body) });

  before(async () => {
    port = await freePort();
    const url = `http://127.0.0.1:${port}/heliograph`;
    const made = await acme.developer.send<{ id: string; secret: string }>('POST', path(), { url });
    webhook = made.body;
    shop = await start();
  });

  test('a change of an order is one text, and webhooks report its outcome', async () => {
    const shipped = { order: '7', state: 'shipped', to: '+447700900123' };
    const [one, two] = await Promise.all([order(shipped), order(shipped)]);
    assert.deepEqual([one.status, two.status], [202, 202]);
    await eventually('it is delivered', async () => (await texts('7'))[0]?.status === 'delivered');
    assert.equal((await texts('7')).length, 1);
    assert.equal((await order({ ...shipped, state: 'lost' })).status, 400);
    assert.equal((await order({ ...shipped, order: '6', to: 'x' })).status, 400);
    const forged = await fetch(new URL('/heliograph', shop.url), { method: 'POST', body: '{}' });
    assert.equal(forged.status, 401);
  });

  test('what happens while it is away comes from the feed, and a repeated webhook changes nothing', async () => {
    await shop.stop();
    const missed = await heliograph.sms.send({
      to: '+447700900124',
      from: 'ACME',
      message: 'Your order 8 is packed.',
      reference: '8',
    });
    await eventually('it is delivered', async () => (await heliograph.sms.get(missed.id)).status === 'delivered');
    shop = await start();
    assert.deepEqual(
      (await texts('8')).map(({ id, status }) => ({ id, status })),
      [{ id: missed.id, status: 'delivered' }],
    );
    const [event] = eventsIn();
    const again = await acme.developer.send('POST', `${path()}/${webhook.id}/deliveries/${event?.id}/replay`);
    assert.equal(again.status, 202);
    const delivered = async () => {
      const { body } = await acme.developer.send<{ data: { event_id: string; attempts: object[] }[] }>(
        'GET',
        `${path()}/${webhook.id}/deliveries`,
      );
      return body.data.filter(({ event_id, attempts }) => event_id === event?.id && attempts.length > 1).length;
    };
    await eventually('it came again', async () => (await delivered()) > 0);
    const ids = eventsIn().map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, 'an event was kept twice');
  });
});
