// The samples of the reference are run against the real service, in every language, for every operation of the APIs.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { OpenApi } from '../../portal/src/docs/model/openapi.ts';
import { type Operation, operationsOf } from '../../portal/src/docs/model/operations.ts';
import { type Language, languages } from '../../portal/src/docs/samples/languages.ts';
import { exampleValues, makeRequest } from '../../portal/src/docs/samples/make-request.ts';
import { exampleId } from '../../src/http/openapi/field-examples.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, createRegistered, getToken, type TestApplication } from '../support/applications.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { isInstalled, runGoSamples, runSamples, startSample } from '../support/sample-programs.ts';

let app: TestApp;
let acme: TestApplication;
let operations: Operation[];
before(async () => {
  // The programs have clocks of their own.
  app = await createTestApp({ clock: createRunningClock() });
  acme = await createRegistered(app, undefined, 'enterprise');
  operations = operationsOf((await send<OpenApi>(app, 'GET', '/openapi/apis.json')).body);
});
after(() => app.close());

/** What the document's examples stand for here: records of this application, made for one language. */
type Real = Record<string, string>;

async function makeRecords(number: string): Promise<Real> {
  const tokens = {
    verify: bearer(await getToken(app, acme.client, 'verify:manage')),
    messaging: bearer(await getToken(app, acme.client, 'messaging:send')),
  };
  const key = { apikey: acme.apiKey };
  const made = async (path: string, headers: Record<string, string>, body: object) => {
    const answer = await send<{ id: string }>(app, 'POST', path, { headers, body });
    assert.ok(answer.status < 300, `${path} answered ${answer.status}`);
    return answer.body.id;
  };
  const later = new Date(app.clock.nowMs() + 3_600_000).toISOString();
  const text = { to: number, from: 'ACME', message: 'Hello' };
  /** A person answers a text of the API; the answer is the API's. */
  const answered = async (api: string, headers: Record<string, string>, from: string) => {
    await made(`/${api}/v1/messages`, headers, { ...text, from });
    const inbox = `/sandbox/v1/inbox?to=${encodeURIComponent(number)}`;
    await eventually(`the text of ${from} is on the handset`, async () => {
      const { body } = await send<{ data: { from: string }[] }>(app, 'GET', inbox, { headers: key });
      return body.data.some((each) => each.from === from);
    });
    return made('/sandbox/v1/inbox/replies', key, { from: number, to: from, message: 'Where is my order?' });
  };
  /** A call that goes on ringing: the programs take longer than a person. */
  const ringing = async (to: string) => {
    const path = '/verify/v1/verifications';
    const body = { to, channel: 'voice' };
    const answer = await send<{ deliveries: { message_id: string }[] }>(app, 'POST', path, {
      headers: tokens.verify,
      body,
    });
    const [call] = answer.body.deliveries;
    assert.ok(call, `${path} answered ${answer.status}`);
    await eventually('the call rings', async () => {
      const { count } = await app.db.database.query(
        `update handset_late_receipt set due_at = due_at + interval '1 hour' where rings and message_id = $1`,
        [uuidOf(call.message_id)],
      );
      return count === 1;
    });
    return call.message_id;
  };
  return {
    call: await ringing(number.replace('+44770090013', '+44770090015')),
    sms: await made('/sms/v1/messages', key, { ...text, send_at: later }),
    messaging: await made('/messaging/v1/messages', tokens.messaging, { ...text, send_at: later }),
    smsInbound: await answered('sms', key, 'ACME'),
    messagingInbound: await answered('messaging', tokens.messaging, 'SHOP'),
    verification: await made('/verify/v1/verifications', tokens.verify, { to: number, channel: 'sms' }),
    // A number of its own: a code of the caller's would replace the pending verification.
    ownCode: await made('/verify/v1/verifications', tokens.verify, {
      to: number.replace('+44770090013', '+44770090014'),
      channel: 'sms',
      code: '482913',
    }),
    token: await getToken(app, acme.client, 'messaging:send'),
    number,
  };
}

function sampleOf(operation: Operation, language: Language, real: Real, key: string): string {
  const isSms = operation.path.startsWith('/sms');
  // Both APIs have the same opt-outs: each takes back its own.
  const number = operation.path.startsWith('/messaging/v1/opt-outs') ? `${real.number}0` : real.number;
  const replaced = JSON.stringify(exampleValues(operation, key))
    .replaceAll(exampleId('msg'), (operation.id === 'actOnCall' ? real.call : isSms ? real.sms : real.messaging) ?? '')
    .replaceAll(exampleId('ver'), (operation.id === 'putOutcome' ? real.ownCode : real.verification) ?? '')
    .replaceAll(exampleId('inb'), (isSms ? real.smsInbound : real.messagingInbound) ?? '')
    .replaceAll('eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl', real.token ?? '')
    .replaceAll('+447700900123', number ?? '')
    .replaceAll('80123', 'ACME')
    // A code of another length is never the right one.
    .replaceAll('123456', '1234');
  const credentials = { apiKey: acme.apiKey, clientId: acme.client.client_id, clientSecret: acme.client.client_secret };
  const tokenUrl = `${app.url}/realms/heliograph/protocol/openid-connect/token`;
  const request = makeRequest(operation, JSON.parse(replaced), credentials, { baseUrl: app.url, tokenUrl });
  assert.ok(request !== undefined, `${operation.id} has an example that is no JSON`);
  const { sample } = languages.find(({ name }) => name === language) ?? { sample: () => '' };
  return sample(request);
}

/** Records are read before they are deleted; a number opts out after texts were sent to it. */
function inOrder(): Operation[] {
  const place = ({ method, id }: Operation) => (method === 'DELETE' ? 2 : id.startsWith('put') ? 1 : 0);
  return operations.filter(({ isStream }) => !isStream).sort((a, b) => place(a) - place(b));
}

async function samplesFor(language: Language, number: string) {
  const real = await makeRecords(number);
  return inOrder().map((operation) => ({
    operation,
    id: operation.id,
    text: sampleOf(operation, language, real, `${language}-${operation.id}`),
  }));
}

/** The first good answer of the document. */
function promised({ answers }: Operation): string | undefined {
  return answers.map(({ status }) => status).find((status) => status.startsWith('2'));
}

function assertPromised(
  samples: { operation: Operation }[],
  outputs: Map<string, string>,
  statusOf: (text: string) => string,
) {
  const wrong = samples.flatMap(({ operation }) => {
    const output = outputs.get(operation.id) ?? 'nothing';
    const status = statusOf(output);
    const expected = promised(operation);
    return status === expected ? [] : [`${operation.id}: ${status}, not ${expected}: ${output.slice(0, 300)}`];
  });
  assert.deepEqual(wrong, []);
  assert.ok(samples.length > 30, `${samples.length} operations`);
}

const firstNumber = (text: string) => /^(\d{3}) /.exec(text)?.[1] ?? '';

describe('every sample does what the document promises', () => {
  test('curl', async () => {
    const samples = await samplesFor('curl', '+447700900131');
    const outputs = await runSamples('curl', samples);
    assertPromised(samples, outputs, (text) => /^HTTP\/1\.1 (\d+)/m.exec(text)?.[1] ?? '');
  });

  for (const [language, number, library] of [
    ['typescript', '+447700900133', '@heliograph/client'],
    ['python', '+447700900132', 'from heliograph import'],
  ] as const) {
    test(`${language}: the client, or HTTP where it has no call`, async () => {
      const samples = await samplesFor(language, number);
      const outputs = await runSamples(language, samples);
      const byClient = new Set(samples.filter(({ text }) => text.includes(library)).map(({ id }) => id));
      assert.ok(byClient.size > 28, `${byClient.size} samples use the client`);
      for (const { operation } of samples.filter(({ id }) => byClient.has(id))) {
        const done = /\bdone\n$/.test(outputs.get(operation.id) ?? '');
        assert.ok(done, `${operation.id}: ${outputs.get(operation.id)?.slice(0, 400)}`);
      }
      const others = samples.filter(({ id }) => !byClient.has(id));
      const statuses = others.map(({ operation }) => [operation.id, firstNumber(outputs.get(operation.id) ?? '')]);
      assert.deepEqual(
        statuses,
        others.map(({ operation }) => [operation.id, promised(operation)]),
      );
    });
  }

  if (isInstalled('php')) {
    test('PHP', async () => {
      const samples = await samplesFor('php', '+447700900134');
      assertPromised(samples, await runSamples('php', samples), firstNumber);
    });
  }

  if (inShort(false, isInstalled('go'))) {
    test('Go', async () => {
      const samples = await samplesFor('go', '+447700900135');
      assertPromised(samples, await runGoSamples(samples), firstNumber);
    });
  }
});

describe('a sample of a stream goes on', () => {
  const programs = (['curl', 'python', 'typescript', 'php'] as const).filter(
    (language) => language !== 'php' || isInstalled('php'),
  );
  for (const language of programs) {
    test(language, async () => {
      for (const operation of operations.filter(({ isStream }) => isStream)) {
        const text = sampleOf(operation, language, { number: '+447700900136' }, 'stream');
        const wanted = text.includes('events.follow') ? /message\.delivered/ : /\b200\b/;
        const sample = await startSample(language, { id: operation.id, text }, wanted);
        try {
          await untilSeen(sample.seen);
        } finally {
          await sample.stop();
        }
      }
    });
  }

  /** The client prints events alone: texts are sent until it has seen one. */
  async function untilSeen(seen: Promise<void>): Promise<void> {
    let done = false;
    const noted = seen.finally(() => {
      done = true;
    });
    const body = { to: '+447700900136', from: 'ACME', message: 'Hello' };
    const sendOne = () => send(app, 'POST', '/sms/v1/messages', { headers: { apikey: acme.apiKey }, body });
    await Promise.all([
      noted,
      eventually('the stream has emitted', async () => done || !(await sendOne()), { everyMs: 100 }),
    ]);
  }
});
