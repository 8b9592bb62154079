// Every preset against a double of its provider: the real app, a real database, requests and callbacks over sockets.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { createHttpCarrierWorld, type HttpCarrierWorld } from '../support/http-carrier-world.ts';
import { dumpAll, type Page } from '../support/texts.ts';
import { africasTalking } from './africas-talking.ts';
import { make, type Provider, type TakenText } from './call.ts';
import { infobip } from './infobip.ts';
import { plivo } from './plivo.ts';
import { type Double, type DoubleAnswer, type GotRequest, startDouble } from './provider.ts';
import { telnyx } from './telnyx.ts';
import { twilio } from './twilio.ts';
import { vonageSms } from './vonage-sms.ts';

const providers: Provider[] = [twilio, vonageSms, infobip, telnyx, plivo, africasTalking];

/** What a provider refuses as unwanted is remembered, so each text has a number of its own. */
let numbers = 200;
const nextNumber = () => `+447700900${++numbers}`;

let world: HttpCarrierWorld;
before(async () => {
  world = await createHttpCarrierWorld();
  for (const number of ['+447700900001', '22884']) {
    const body = { application_id: world.sender.id, api: 'sms' };
    const { status } = await world.operator.send(
      'PUT',
      `/portal/v1/operator/numbers/${encodeURIComponent(number)}`,
      body,
    );
    assert.ok(status === 200 || status === 201, `the number ${number} was given: ${status}`);
  }
});

async function inboundTexts(): Promise<{ from: string; message: string }[]> {
  const { body } = await send<Page<{ from: string; message: string }>>(world.app, 'GET', '/sms/v1/inbound', {
    headers: world.sender.key,
  });
  return body.data;
}
after(() => world.close());

for (const provider of providers) {
  describe(provider.preset, () => {
    let double: Double;
    const answers = new Map<GotRequest, DoubleAnswer>();
    const name = provider.preset;
    let urls: { receipts: string; inbound: string };

    before(async () => {
      double = await startDouble((request) => {
        const answer = provider.answer(request);
        answers.set(request, answer);
        return answer;
      });
      const carrier = await world.connect({ preset: provider.preset, ...provider.settings, base: double.url }, name);
      urls = carrier.callbacks ?? assert.fail('there are callbacks');
    });
    after(async () => {
      await world.disconnect(name);
      await double.close();
    });

    /** Sends a text, and waits until the provider has it. */
    async function sendOne(to = nextNumber()): Promise<{ ours: string; text: TakenText; request: GotRequest }> {
      const from = double.requests.length;
      const { id: ours } = await world.send({ to, message: 'Hi € {{to}}' });
      await world.untilStatus(ours, 'sent');
      const request = double.requests.slice(from).find((each) => answers.has(each)) ?? assert.fail('a request came');
      return { ours, request, text: provider.taken(request, answers.get(request) ?? { status: 0 }) };
    }
    const callbackOf = ({ callback }: TakenText) => callback ?? urls.receipts;

    test('a text is the request that was recorded, and its receipt makes it delivered', async () => {
      const { ours, text, request } = await sendOne('+447700900123');
      assert.equal(request.path, provider.recorded.path);
      assert.deepEqual(provider.fieldsOf(request), provider.recorded.fields);
      assert.ok(callbackOf(text).startsWith(urls.receipts), 'its receipts come to the address that operators see');
      const last = provider.states.at(-1) ?? assert.fail('a state');
      const call = provider.receipt(text, { url: callbackOf(text), state: last.state, nowMs: Date.now() });
      assert.equal((await make(call)).status, 200);
      await world.untilStatus(ours, 'delivered');
      // The same once more changes nothing.
      assert.equal((await make(call)).status, 200);
      assert.equal((await world.sender.readSms(ours)).status, 'delivered');
    });

    test('a refusal ends the text, with our code for it', async () => {
      const { answer, status, error } = provider.refusals[0] ?? assert.fail('a refusal');
      double.faults.push(answer);
      const { id } = await world.send({ to: nextNumber() });
      const record = await world.untilStatus(id, status);
      assert.equal(record.error?.code, error);
    });

    test('throttled: the text waits and is sent once more', async () => {
      double.faults.push(provider.throttled);
      const before = double.requests.length;
      await sendOne();
      assert.equal(double.requests.length - before, 2);
    });

    test('a receipt whose proof is wrong, old or for other bytes is a 401 and changes nothing', async () => {
      const { ours, text } = await sendOne();
      const url = callbackOf(text);
      const { state } = provider.states.at(-1) ?? assert.fail('a state');
      const again = (nowMs: number) => provider.receipt(text, { url, state, nowMs });
      const right = again(Date.now());
      for (const [what, spoil] of Object.entries(provider.forgeries)) {
        const { status, body } = await make(spoil(right, again));
        assert.equal(status, 401, `${what}: ${body}`);
      }
      assert.equal((await world.sender.readSms(ours)).status, 'sent');
      assert.equal((await make(right)).status, 200);
      await world.untilStatus(ours, 'delivered');
    });

    test('an inbound text reaches the application that holds the number, once', async () => {
      const seen = (await inboundTexts()).length;
      const call = provider.inbound(urls.inbound, Date.now());
      const { status, body } = await make(call);
      assert.equal(status, 200, body);
      assert.ok(body === '' || body === '<Response/>', 'nothing that a provider would text back');
      assert.equal((await make(call)).status, 200);
      const texts = await inboundTexts();
      assert.equal(texts.length, seen + 1);
      assert.deepEqual([texts[0]?.from, texts[0]?.message], ['+447700900999', 'STOP & go']);
    });

    test('an inbound text without its proof is a 401, or a token that is wrong a 404', async () => {
      const call = provider.inbound(urls.inbound, Date.now());
      const wrong = await make({ ...call, url: urls.inbound.replace(/.$/, (last) => (last === '0' ? '1' : '0')) });
      assert.equal(wrong.status, 404);
      if (Object.keys(provider.forgeries).length === 0) return;
      const { 'content-type': type = '' } = call.headers;
      const unproven = await make({
        ...call,
        headers: { 'content-type': type },
        body: call.body?.replace(/&sig=.*$/, ''),
      });
      assert.equal(unproven.status, 401);
      const seen = (await inboundTexts()).length;
      for (const [what, spoil] of Object.entries(provider.inboundForgeries ?? {}))
        assert.equal((await make(spoil(call))).status, 401, what);
      assert.equal((await inboundTexts()).length, seen);
    });

    test('wrong credentials stop the carrier; right ones start it again, and no text is lost', async () => {
      await world.change(provider.wrong, name);
      await eventually('it is up again', async () => (await world.read(name)).state === 'up');
      let { id } = await world.send({ to: nextNumber() });
      const failing = await eventually('it fails', async () => {
        const { binds } = await world.read(name);
        if (binds[0]?.state === 'failing') return binds[0];
        // The carrier may have sent it before it had the new settings.
        if ((await world.sender.readSms(id)).status === 'sent') ({ id } = await world.send({ to: nextNumber() }));
        return false;
      });
      assert.match(failing.error ?? '', /refuses the account/);
      const { alerts } = world.app.app;
      await eventually('operators are alerted, once', async () => {
        await alerts.poll();
        return alerts.open.filter(({ kind, carrier }) => kind === 'account_refused' && carrier === name).length === 1;
      });
      await world.change(provider.settings, name);
      await world.untilStatus(id, 'sent');
    });

    test('no secret is in an answer, in a log line, or in the database', async () => {
      const record = JSON.stringify(await world.read(name));
      const log = JSON.stringify((await world.operator.send('GET', `/portal/v1/operator/carriers/${name}/log`)).body);
      const token = urls.receipts.split('/').at(-1) ?? '';
      const dump = await dumpAll(world.app);
      const lines = world.app.logLines.join('\n');
      for (const secret of [...provider.secrets, token]) {
        const places = { log, dump, lines, ...(secret !== token && { record }) };
        for (const [place, text] of Object.entries(places))
          assert.equal(text.includes(secret), false, `${secret} is in ${place}`);
      }
      assert.ok(
        log.includes(provider.recorded.path.split('/').at(-1) || provider.recorded.path.split('/').at(-2) || ''),
        'the log has requests',
      );
    });
  });
}
