// Every preset for calls and WhatsApp messages against a double of its provider: from a start by its channel to the receipt
// and the story, over real sockets.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { bearer, getToken } from '../../support/applications.ts';
import { send } from '../../support/developer.ts';
import { eventually } from '../../support/eventually.ts';
import { createHttpCarrierWorld, type HttpCarrierWorld } from '../../support/http-carrier-world.ts';
import { dumpAll } from '../../support/texts.ts';
import type { VerificationBody } from '../../support/verify-caller.ts';
import { make } from '../call.ts';
import { type Double, type DoubleAnswer, type GotRequest, startDouble } from '../provider.ts';
import { codeProviders } from './all.ts';
import type { TakenCode } from './code-provider.ts';
import { cloudInbound, cloudReports, cloudStatus, verifyToken, whatsappCloud } from './whatsapp-cloud.ts';

let world: HttpCarrierWorld;
let authorization: Record<string, string>;
before(async () => {
  world = await createHttpCarrierWorld({ HELIOGRAPH_GUARD: '{"per_prefix":1000000}' });
  authorization = bearer(await getToken(world.app, world.sender.client, 'verify:manage'));
});
after(() => world.close());

let numbers = 100_000;
const newNumber = () => `+447711${numbers++}`;
const path = '/verify/v1/verifications';
const verify = (method: string, target: string, body?: object) =>
  send<VerificationBody>(world.app, method, target, { body, headers: authorization });
const read = async (id: string) => (await verify('GET', `${path}/${id}`)).body;
const shown = ({ deliveries }: VerificationBody) =>
  deliveries.map(({ channel, status, error }) => [channel, status, error?.code ?? null]);

async function story(id: string): Promise<{ event: string; detail: string }[]> {
  const { status, body } = await world.sender.developer.send<{ timeline: { event: string; detail: string }[] }>(
    'GET',
    `/portal/v1/applications/${world.sender.id}/verifications/${id}`,
  );
  assert.equal(status, 200);
  return body.timeline;
}

async function untilShown(id: string, what: unknown[][]): Promise<VerificationBody> {
  let last: unknown;
  return eventually(
    `deliveries of ${id}`,
    async () => {
      const record = await read(id);
      last = shown(record);
      return JSON.stringify(last) === JSON.stringify(what) && record;
    },
    { withinMs: 20_000 },
  ).catch((error: Error) => assert.fail(`${error.message}: ${JSON.stringify(last)}, not ${JSON.stringify(what)}`));
}

for (const provider of codeProviders) {
  const { preset: name, channel } = provider;
  describe(name, () => {
    let double: Double;
    const answers = new Map<GotRequest, DoubleAnswer>();
    const problems: string[] = [];
    let urls: { receipts: string };

    before(async () => {
      double = await startDouble((request) => {
        const wrong = provider.problemsOf(request);
        problems.push(...wrong);
        const answer = wrong.length > 0 ? { status: 400, body: wrong } : provider.answer(request);
        answers.set(request, answer);
        return answer;
      });
      const carrier = await world.connect({ preset: name, ...provider.settings, base: double.url }, name);
      urls = carrier.callbacks ?? assert.fail('there are callbacks');
    });
    after(async () => {
      await world.disconnect(name);
      await double.close();
      assert.deepEqual(problems, []);
    });

    const callbackOf = ({ callback }: TakenCode) => callback ?? urls.receipts;
    const report = (code: TakenCode, state: string, error?: string) =>
      provider.receipt(code, {
        url: callbackOf(code),
        state,
        nowMs: Date.now(),
        ...(error !== undefined && { error }),
      });

    /** Starts a verification by this channel, and waits until the provider has its code. */
    async function start(body: object = {}, language = 'en') {
      const from = double.requests.length;
      const to = newNumber();
      const started = await verify('POST', path, { to, channel, ...body });
      assert.equal(started.status, 200, JSON.stringify(started.body));
      const request = await eventually('the provider has it', () =>
        double.requests
          .slice(from)
          .filter((each) => each.body.includes(to.slice(1)))
          .find((each) => answers.get(each)?.status === 200 || answers.get(each)?.status === 201),
      );
      const taken = provider.taken(request, answers.get(request) ?? { status: 0 }, language);
      assert.equal(taken.to.replace(/^\+/, ''), to.slice(1));
      const { id } = started.body;
      await untilShown(id, [[channel, 'sent', null]]);
      return { id, taken };
    }

    test('start, request, receipts in their order and repeated, approval by the code; the story has it', async () => {
      const { id, taken } = await start({ locale: 'de-AT', code_length: 10 }, 'de');
      assert.match(taken.code, /^\d{10}$/);
      assert.ok(callbackOf(taken).startsWith(urls.receipts), 'its receipts come to the address that operators see');
      for (const state of provider.pending) assert.equal((await make(report(taken, state))).status, 200, state);
      assert.deepEqual(shown(await read(id)), [[channel, 'sent', null]]);
      const [first = '', ...more] = provider.arrived;
      assert.equal((await make(report(taken, first))).status, 200);
      await untilShown(id, [[channel, 'delivered', null]]);
      for (const state of [first, ...more, ...provider.pending])
        assert.equal((await make(report(taken, state))).status, 200, state);
      assert.deepEqual(shown(await read(id)), [[channel, 'delivered', null]]);
      const { body } = await verify('POST', `${path}/${id}`, { code: taken.code });
      assert.deepEqual([body.valid, body.channel], [true, channel]);
      const text = JSON.stringify(await story(id));
      for (const part of [name, 'delivered']) assert.ok(text.includes(part), `${part} in ${text}`);
      assert.ok(!text.includes(taken.code));
    });

    test('what came late or before its turn changes nothing, or corrects', async () => {
      const { id, taken } = await start();
      const [bad = provider.failed[0]] = provider.failed;
      assert.ok(bad, 'it can fail');
      await make(report(taken, bad.state, bad.error));
      await untilShown(id, [[channel, bad.status, bad.code]]);
      for (const state of provider.pending) await make(report(taken, state));
      assert.deepEqual(shown(await read(id)), [[channel, bad.status, bad.code]]);
      await make(report(taken, provider.arrived[0] ?? ''));
      await untilShown(id, [[channel, 'delivered', null]]);
      await make(report(taken, bad.state, bad.error));
      assert.deepEqual(shown(await read(id)), [[channel, 'delivered', null]]);
    });

    test('what does not arrive goes on by the next channel at once, with the same code', async () => {
      // Presets.test.ts has the meaning of all of them.
      for (const { state, error, status, code } of [provider.failed[0], provider.failed.at(-1)].flatMap(
        (each) => each ?? [],
      )) {
        const { id, taken } = await start({ fallback: [{ channel: 'sms', after_seconds: 120 }] });
        assert.equal((await make(report(taken, state, error))).status, 200);
        const { sends } = await untilShown(id, [
          [channel, status, code],
          ['sms', 'delivered', null],
        ]);
        assert.equal(sends, 2);
        const step = (await story(id)).find(({ event }) => event === 'fallback');
        assert.match(
          step?.detail ?? '',
          /The previous send failed: the code is sent by sms/,
          JSON.stringify(await story(id)),
        );
        assert.equal((await verify('POST', `${path}/${id}`, { code: taken.code })).body.valid, true);
      }
    });

    test('what the provider refuses goes on at once too', async () => {
      for (const { answer, error, what } of provider.refusals.slice(0, 1)) {
        double.faults.push(answer);
        const fallback = [{ channel: 'sms', after_seconds: 120 }];
        const { body } = await verify('POST', path, { to: newNumber(), channel, fallback });
        const sms = ['sms', 'delivered', null];
        await untilShown(body.id, [[channel, 'failed', error], sms]).catch((failure) =>
          assert.fail(`${what}: ${failure}`),
        );
      }
    });

    test('throttled: the code waits, and is sent once more', async () => {
      double.faults.push(provider.throttled);
      const from = double.requests.length;
      await start();
      assert.equal(double.requests.length - from, 2);
    });

    test('a receipt whose proof is wrong, old or for other bytes is a 401 and changes nothing', async () => {
      const { id, taken } = await start();
      const state = provider.arrived[0] ?? '';
      const again = (nowMs: number) => provider.receipt(taken, { url: callbackOf(taken), state, nowMs });
      const right = again(Date.now());
      for (const [what, spoil] of Object.entries(provider.forgeries)) {
        const { status, body } = await make(spoil(right, again));
        assert.equal(status, 401, `${what}: ${body}`);
      }
      const token = urls.receipts.split('/').at(-1) ?? '';
      const elsewhere = token.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      assert.equal((await make({ ...right, url: right.url.replace(token, elsewhere) })).status, 404);
      assert.deepEqual(shown(await read(id)), [[channel, 'sent', null]]);
      await make(right);
      await untilShown(id, [[channel, 'delivered', null]]);
    });

    test('a receipt without a proof counts for nothing unless it names the number', async () => {
      if (Object.keys(provider.forgeries).length > 0) return;
      const { id, taken } = await start();
      const state = provider.arrived[0] ?? '';
      const other = {
        ...taken,
        to: taken.to.replace(/\d{4}$/, (end) => String((Number(end) + 1) % 10_000).padStart(4, '0')),
      };
      assert.equal((await make(report(other, state))).status, 200);
      assert.deepEqual(shown(await read(id)), [[channel, 'sent', null]]);
      await make(report(taken, state));
      await untilShown(id, [[channel, 'delivered', null]]);
    });

    test("an operator's test has a made-up code, and shows each step to the receipt", async () => {
      const from = double.requests.length;
      const test = `/portal/v1/operator/carriers/${name}/test`;
      const body = { to: '+447700900123', from: 'ACME', message: 'Hello' };
      const { status, body: begun } = await world.operator.send<{ id: string }>('POST', test, body);
      assert.equal(status, 202, JSON.stringify(begun));
      const request = await eventually('the provider has it', () => double.requests[from]);
      const { id } = receiptOfTest(request);
      await eventually('the test waits for the receipt', async () => (await steps(begun.id)).length === 4);
      await make(
        report({ id, ours: '', to: '+447700900123', code: '', callback: undefined }, provider.arrived[0] ?? ''),
      );
      const done = await eventually('the receipt', async () => {
        const all = await steps(begun.id);
        return all.length === 5 && all;
      });
      assert.deepEqual(
        done.map(({ step, ok }) => [step, ok]),
        ['name', 'connection', 'tls', 'text', 'receipt'].map((step) => [step, true]),
      );

      async function steps(id: string) {
        const answer = await world.operator.send<{ steps: { step: string; ok: boolean }[] }>('GET', `${test}/${id}`);
        return answer.body.steps;
      }
      /** A call says what the operator wrote. */
      function receiptOfTest(request: GotRequest): { id: string } {
        const answer = answers.get(request);
        if (channel === 'voice') assert.ok(request.body.includes('Hello'), request.body);
        else assert.ok(request.body.includes('123456'), request.body);
        const made = JSON.stringify(answer?.body);
        return { id: /"(?:sid|uuid|messageId|id)":"([^"]+)"/.exec(made)?.[1] ?? assert.fail(made) };
      }
    });

    test('wrong credentials stop the carrier; right ones start it again, and no code is lost', async () => {
      await world.change(provider.wrong, name);
      await eventually('it is up again', async () => (await world.read(name)).state === 'up');
      const to = newNumber();
      const { body } = await verify('POST', path, { to, channel });
      const failing = await eventually('it fails', async () => {
        const { binds } = await world.read(name);
        // The carrier may have sent it before it had the new settings.
        if (shown(await read(body.id))[0]?.[1] === 'sent') await verify('POST', path, { to: newNumber(), channel });
        return binds[0]?.state === 'failing' && binds[0];
      });
      assert.match(failing.error ?? '', /refuses the account/);
      const right = Object.fromEntries(Object.keys(provider.wrong).map((field) => [field, provider.settings[field]]));
      await world.change(right, name);
      await untilShown(body.id, [[channel, 'sent', null]]);
    });

    test('neither a code nor a secret is in an answer, in a log, or in the database', async () => {
      const { id, taken } = await start({ code_length: 10 });
      await make(report(taken, provider.arrived[0] ?? ''));
      await untilShown(id, [[channel, 'delivered', null]]);
      const record = JSON.stringify(await world.read(name));
      const log = JSON.stringify((await world.operator.send('GET', `/portal/v1/operator/carriers/${name}/log`)).body);
      assert.ok(log.includes(taken.ours), 'the log has the request');
      const dump = await dumpAll(world.app);
      const lines = world.app.logLines.join('\n');
      const found = JSON.stringify(await read(id));
      for (const secret of [...provider.secrets, taken.code])
        for (const [place, text] of Object.entries({ record, log, dump, lines, found }))
          assert.equal(text.includes(secret), false, `${secret} is in ${place}`);
    });
  });
}

describe('the callbacks of Meta', () => {
  let double: Double;
  let receipts: string;
  before(async () => {
    double = await startDouble((request) => whatsappCloud.answer(request));
    const settings = { preset: 'whatsapp-cloud', ...whatsappCloud.settings, base: double.url };
    receipts = (await world.connect(settings, 'meta')).callbacks?.receipts ?? '';
  });
  after(async () => {
    await world.disconnect('meta');
    await double.close();
  });
  const ask = (query: Record<string, string>) =>
    make({ method: 'GET', url: `${receipts}?${new URLSearchParams(query)}`, headers: {}, body: undefined });
  const right = { 'hub.mode': 'subscribe', 'hub.challenge': '1158201444', 'hub.verify_token': verifyToken };

  test('the address proves itself by the password, and repeats the challenge', async () => {
    assert.deepEqual(await ask(right), { status: 200, body: '1158201444' });
  });

  test('another password, none, a challenge that is none: 401, and nothing is repeated', async () => {
    for (const changes of [
      { 'hub.verify_token': 'another' },
      { 'hub.verify_token': '' },
      { 'hub.challenge': '' },
      { 'hub.challenge': '<script>' },
      { 'hub.challenge': '1'.repeat(129) },
    ]) {
      const { status, body } = await ask({ ...right, ...changes });
      assert.equal(status, 401, JSON.stringify(changes));
      assert.ok(!body.includes('script'));
    }
    const { 'hub.verify_token': _, ...without } = right;
    assert.equal((await ask(without)).status, 401);
  });

  test('many reports in one callback, of several changes', async () => {
    const ids: { id: string; taken: TakenCode }[] = [];
    for (let count = 0; count < 3; count++) {
      const { body } = await verify('POST', path, { to: newNumber(), channel: 'whatsapp' });
      const request = await eventually('the provider has it', () => double.requests[count]);
      const taken = whatsappCloud.taken(request, { status: 200, body: { messages: [{ id: `w${count}` }] } }, 'en');
      ids.push({ id: body.id, taken });
    }
    const unknown = Array.from({ length: 400 }, (_, index) => ({ id: `x${index}`, ours: 'x', to: '447700900123' }));
    const statuses = [...unknown, ...ids.map(({ taken }) => taken)].map((code) => cloudStatus(code, 'delivered'));
    const call = cloudReports(receipts, [statuses.slice(0, 300), statuses.slice(300)]);
    assert.ok((call.body?.length ?? 0) > 64 * 1024, 'more than other callbacks have');
    assert.equal((await make(call)).status, 200);
    for (const { id } of ids) await untilShown(id, [['whatsapp', 'delivered', null]]);
  });

  test('a message from a person is taken, and is no receipt', async () => {
    assert.deepEqual(await make(cloudInbound(receipts)), { status: 200, body: '' });
  });
});

test('a person who wants no codes by WhatsApp has not opted out of texts', async () => {
  const double = await startDouble(() => ({ status: 400, body: { error: { code: 131050 } } }));
  await world.connect({ preset: 'whatsapp-cloud', ...whatsappCloud.settings, base: double.url }, 'unwanted');
  const to = newNumber();
  const { body } = await verify('POST', path, { to, channel: 'whatsapp' });
  await untilShown(body.id, [['whatsapp', 'failed', 'blocked_by_recipient']]);
  const { status } = await world.untilStatus((await world.send({ to })).id, 'delivered');
  assert.equal(status, 'delivered');
  const { rows } = await world.app.db.database.query('select from opt_out');
  assert.equal(rows.length, 0);
  await world.disconnect('unwanted');
  await double.close();
});
