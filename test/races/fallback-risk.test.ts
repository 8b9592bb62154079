// The risk check before each step of a fallback, against approvals, new starts and a second node.
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { createSender, type Sender } from '../support/texts.ts';
import { createVerifyCaller, type VerificationBody, type VerifyCaller } from '../support/verify-caller.ts';

const allow = '{"decision":"allow"}';
const block = '{"decision":"block","reason":"sim_swap"}';
let answer = (response: ServerResponse): void => void response.end(allow);
let asked: string[] = [];
const risk = createServer(async (request, response) => {
  let text = '';
  for await (const piece of request) text += piece;
  asked.push(JSON.parse(text).to);
  answer(response);
});
let app: TestApp;
let second: TestApp;
let owner: Sender;
let acme: VerifyCaller;

before(async () => {
  await new Promise<void>((done) => risk.listen(0, '127.0.0.1', done));
  const env = { HELIOGRAPH_RISK_URL: `http://127.0.0.1:${(risk.address() as AddressInfo).port}/` };
  // Both nodes deliver, so both poll for steps.
  app = await createTestApp({ manyConnections: true, env });
  second = await createTestApp({ env, db: app.db, clock: app.clock });
  owner = await createSender(app, { apis: ['verify'] });
  const { client_id: clientId, client_secret: clientSecret } = owner.client;
  acme = await createVerifyCaller(app, { clientId, clientSecret } as VerifyCaller);
  await owner.developer.send('PATCH', `/portal/v1/applications/${owner.id}`, { assurance: 'nist-800-63b-4' });
});
after(async () => {
  await second.close();
  await app.close();
  risk.closeAllConnections();
  await new Promise((done) => risk.close(done));
});
beforeEach(() => {
  asked = [];
  answer = (response) => void response.end(allow);
});

const byVoice = [{ channel: 'voice', after_seconds: 5 }];
const claimsIn = ({ proof = '' }: VerificationBody) =>
  JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
const plans = () =>
  app.db.database.query<{ due: boolean }>('select due_at is not null as due from verification_fallback');

async function untilOver(): Promise<void> {
  await eventually('no step to wait', async () => (await plans()).rows.every(({ due }) => !due));
}

/** Keeps the answers of the check until they are given. */
function holdAnswers(): { some: () => Promise<unknown>; give: (text: string) => void } {
  const held: ServerResponse[] = [];
  answer = (response) => held.push(response);
  return {
    some: () => eventually('the check to be asked', () => held.length > 0),
    give: (text) => {
      answer = (response) => void response.end(text);
      for (const response of held) response.end(text);
    },
  };
}

describe('a step', () => {
  test('is asked about and sent; the proof keeps the assurance, for every send kept its rules', async () => {
    const { id, to, code } = await acme.pending({ fallback: byVoice });
    const before = asked.length;
    app.clock.advance(5000);
    await untilOver();
    assert.ok(asked.length > before && asked.every((each) => each === to));
    await eventually('the call', async () => (await acme.read(id)).body.deliveries[1]?.status !== 'queued');
    const { body } = await acme.check(id, code);
    assert.deepEqual([body.valid, body.sends], [true, 2]);
    assert.deepEqual([claimsIn(body).assurance, claimsIn(body).amr], ['nist-800-63b-4', ['otp', 'voice']]);
  });

  test('without an answer it is sent as the settings say, and the proof names no profile', async () => {
    const { id, code } = await acme.pending({ fallback: byVoice });
    answer = (response) => void response.writeHead(422).end();
    app.clock.advance(5000);
    await untilOver();
    const { body } = await acme.check(id, code);
    assert.deepEqual([body.sends, 'assurance' in claimsIn(body)], [2, false]);
  });

  test('that is blocked ends the fallback; the story says why, and the code that was sent goes on', async () => {
    const { id, code } = await acme.pending({ fallback: [...byVoice, { channel: 'sms', after_seconds: 5 }] });
    answer = (response) => void response.end(block);
    app.clock.advance(5000);
    await untilOver();
    app.clock.advance(60_000);
    await untilOver();
    const path = `/portal/v1/applications/${owner.id}/verifications/${id}`;
    const story = await owner.developer.send<{ timeline: { event: string; detail: string }[] }>('GET', path);
    assert.deepEqual(
      story.body.timeline.filter(({ event }) => event === 'fallback').map(({ detail }) => detail),
      [
        'The code was not entered within 5 s: the code is not sent by voice (risk), and the fallback ends. The risk check blocked the number (sim_swap)',
      ],
    );
    const { body } = await acme.check(id, code);
    assert.deepEqual([body.valid, body.sends], [true, 1]);
  });

  test('that the guard refuses, or for a test number, is not asked about', async () => {
    await acme.start({ to: '+15005550100', fallback: byVoice });
    app.clock.advance(5000);
    await untilOver();
    assert.deepEqual(asked, []);
  });
});

describe('while the check runs', () => {
  test('an approval stops the step', async () => {
    const { id, code } = await acme.pending({ fallback: byVoice });
    const held = holdAnswers();
    app.clock.advance(5000);
    await held.some();
    assert.ok(
      (await plans()).rows.some(({ due }) => due),
      'after a crash here the row is found again',
    );
    assert.equal((await acme.check(id, code)).body.valid, true);
    held.give(allow);
    await untilOver();
    const { body } = await acme.read(id);
    assert.deepEqual([body.status, body.sends, body.deliveries.length], ['approved', 1, 1]);
    assert.equal(claimsIn(body).assurance, 'nist-800-63b-4');
  });

  test('a start with a fallback of its own replaces the step: the old one is not taken', async () => {
    const { id, to } = await acme.pending({ fallback: byVoice });
    const held = holdAnswers();
    app.clock.advance(5000);
    await held.some();
    answer = (response) => void response.end(allow);
    const again = await acme.start({ to, fallback: [{ channel: 'voice', after_seconds: 120 }] });
    assert.deepEqual([again.body.id, again.body.sends], [id, 2]);
    held.give(allow);
    // The poll that waited for the check has ended when the next one asks about another number.
    const other = await acme.pending({ fallback: byVoice });
    app.clock.advance(5000);
    await eventually('the other step', async () => (await acme.read(other.id)).body.sends === 2);
    assert.equal((await acme.read(id)).body.sends, 2);
    await acme.send('DELETE', `/verify/v1/verifications/${id}`);
    await app.db.database.query('update verification_fallback set due_at = null');
  });

  test('two nodes ask, and take each step once', async () => {
    const started = await Promise.all(
      Array.from({ length: 20 }, () => acme.start({ to: acme.newNumber(), fallback: byVoice })),
    );
    app.clock.advance(5000);
    await untilOver();
    const records = await Promise.all(started.map(async ({ body }) => (await acme.read(body.id)).body));
    assert.deepEqual(
      new Set(records.map(({ sends, deliveries }) => `${sends} ${deliveries.length}`)),
      new Set(['2 2']),
    );
  });
});
