// A start with a fallback: the same code by the next channel (section 21 of the contract).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createDeclaredFiles } from '../support/declared.ts';
import { eventually } from '../support/eventually.ts';
import { createVerifyCaller, type SentCode, type VerifyCaller } from '../support/verify-caller.ts';

let app: TestApp;
let acme: VerifyCaller;
before(async () => {
  app = await createTestApp();
  acme = await createVerifyCaller(app);
});
after(() => app.close());

const testNumber = (end: string) => `+150055501${end}`;
const byVoice = [{ channel: 'voice', after_seconds: 20 }];
const shown = (deliveries: SentCode[]) => deliveries.map(({ channel, status }) => `${channel} ${status}`);

/** Turns the clock until N sends were made and the last one has ended. */
async function untilSends(id: string, sends: number, stepMs = 200): Promise<SentCode[]> {
  return eventually(`${sends} sends`, async () => {
    app.clock.advance(stepMs);
    const { deliveries } = (await acme.read(id)).body;
    const last = deliveries.at(-1)?.status ?? '';
    return deliveries.length === sends && !['queued', 'sent'].includes(last) && deliveries;
  });
}

describe('goes on', () => {
  test('at once when the send before it failed for good, with the same code', async () => {
    const { body } = await acme.start({ to: testNumber('14'), fallback: [{ channel: 'whatsapp' }] });
    // The number fails by every channel, so the record shows both.
    assert.deepEqual(shown(await untilSends(body.id, 2, 50)), ['sms failed', 'whatsapp failed']);
    const read = (await acme.read(body.id)).body;
    assert.deepEqual([read.channel, read.sends, read.status], ['whatsapp', 2, 'pending']);
    assert.equal((await acme.check(body.id, '123456')).body.valid, true);
  });

  test('after its time when the code was not entered; the second step follows the first', async () => {
    const to = acme.newNumber();
    const fallback = [...byVoice, { channel: 'whatsapp', after_seconds: 5 }];
    const { body } = await acme.start({ to, fallback });
    assert.deepEqual([body.channel, body.sends, body.deliveries.length], ['sms', 1, 1]);
    assert.deepEqual(shown(await untilSends(body.id, 3)), ['sms delivered', 'voice delivered', 'whatsapp delivered']);
    const [message, , text] = await acme.texts(to, 3);
    const code = acme.codeIn(text?.text ?? '');
    assert.equal(acme.codeIn(message?.text ?? ''), code, 'each has the same code');
    const { rows } = await app.db.database.query<{ sent: string[] }>(
      `select array_agg(extract(epoch from m.created_at - v.created_at)::text order by m.id) as sent
       from verification v join message m on m.id = any(v.text_ids) where v.recipient = $1`,
      [to],
    );
    const [, second = 0, third = 0] = rows[0]?.sent.map(Number) ?? [];
    assert.ok(second >= 20 && third >= second + 5, `not before its time: ${rows[0]?.sent}`);
    assert.equal((await acme.check(body.id, code)).body.valid, true);
  });

  test('over a call that is not answered', async () => {
    const fallback = [{ channel: 'sms', after_seconds: 120 }];
    const { body } = await acme.start({ to: testNumber('15'), channel: 'voice', fallback });
    const deliveries = await untilSends(body.id, 2);
    assert.deepEqual(shown(deliveries), ['voice undelivered', 'sms delivered']);
    assert.equal(deliveries[0]?.error?.code, 'no_answer');
  });
});

describe('stops', () => {
  const stays = async (id: string, sends: number) => {
    app.clock.advance(60_000);
    // The worker polls every second; its row is closed when it has seen that nothing is to come.
    await eventually('the plan to end', async () => {
      const { rows } = await app.db.database.query('select from verification_fallback where due_at <= $1', [
        new Date(app.clock.nowMs()).toISOString(),
      ]);
      return rows.length === 0;
    });
    assert.equal((await acme.read(id)).body.sends, sends);
  };

  test('when the code is approved, canceled or failed', async () => {
    const started = await Promise.all([1, 2, 3].map(() => acme.pending({ fallback: byVoice })));
    const [approved, canceled, failed] = started;
    await acme.check(approved?.id ?? '', approved?.code ?? '');
    await acme.send('DELETE', `/verify/v1/verifications/${canceled?.id}`);
    for (let tries = 0; tries < 5; tries++) await acme.check(failed?.id ?? '', failed?.wrong ?? '');
    for (const { id } of started) await stays(id, 1);
  });

  test('when another start asks for a channel itself', async () => {
    const { id, to } = await acme.pending({ fallback: byVoice });
    const { body } = await acme.start({ to, channel: 'voice' });
    assert.deepEqual([body.id, body.sends], [id, 2]);
    await stays(id, 2);
  });

  test('when a rule of the guard that an operator has set since blocks it', async () => {
    const files = await createDeclaredFiles(app);
    const { id, to } = await acme.pending({ fallback: byVoice });
    await files.apply({ guard: { blocked: [to] } });
    await stays(id, 1);
    await files.apply({ guard: { blocked: null } });
    await files.remove();
  });

  test('but an early repeat of the start changes nothing', async () => {
    const { id, to } = await acme.pending({ fallback: byVoice });
    const { body } = await acme.start({ to });
    assert.deepEqual([body.id, body.sent], [id, false]);
    assert.equal((await untilSends(id, 2)).length, 2);
  });
});

describe('400', () => {
  const refused = async (fallback: unknown) => {
    const { status, body } = await acme.send<{ code: string; details: { field: string }[] }>(
      'POST',
      '/verify/v1/verifications',
      { to: acme.newNumber(), channel: 'sms', fallback },
    );
    return [status, body.code, body.details?.map(({ field }) => field)];
  };
  for (const [what, fallback, code, field] of [
    ['no step', [], 'INVALID_ARGUMENT', 'fallback'],
    ['three steps', [...byVoice, { channel: 'sms' }, { channel: 'voice' }], 'INVALID_ARGUMENT', 'fallback'],
    ['too soon', [{ channel: 'voice', after_seconds: 4 }], 'INVALID_ARGUMENT', 'fallback.0.after_seconds'],
    ['too late', [{ channel: 'voice', after_seconds: 121 }], 'INVALID_ARGUMENT', 'fallback.0.after_seconds'],
    ['the same channel', [{ channel: 'sms' }], 'INVALID_ARGUMENT', 'fallback.0.channel'],
    ['an unknown channel', [{ channel: 'pigeon' }], 'UNSUPPORTED_CHANNEL', 'fallback.0.channel'],
    ['no list', 'voice', 'INVALID_ARGUMENT', 'fallback'],
  ] as const) {
    test(what, async () => {
      const [status, given, fields] = await refused(fallback);
      assert.deepEqual([status, given], [400, code]);
      assert.ok(String(fields).includes(field), String(fields));
    });
  }
});

test('the story shows each step and why it went on', async () => {
  const { body } = await acme.start({ to: testNumber('17'), channel: 'whatsapp', fallback: [{ channel: 'sms' }] });
  await untilSends(body.id, 2, 50);
  const { rows } = await app.db.database.query<{ taken: { channel: string; because: string }[] }>(
    'select taken from verification_fallback order by verification_id desc limit 1',
  );
  assert.deepEqual(
    rows[0]?.taken.map(({ channel, because }) => [channel, because]),
    [['sms', 'failed']],
  );
});
