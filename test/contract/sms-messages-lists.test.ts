// Section 7 of the contract: reading, lists with their filters and pages, and who sees what.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { send } from '../support/developer.ts';
import { createSender, type Page, type Refusal, type Sender, type TextRecord } from '../support/texts.ts';

const path = '/sms/v1/messages';

let app: TestApp;
let acme: Sender;
let eve: Sender;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  acme = await createSender(app);
  eve = await createSender(app, { apis: ['sms'] });
});
after(() => app.close());

async function list(query: string, who = acme): Promise<Page<TextRecord>> {
  const { status, body } = await send<Page<TextRecord>>(app, 'GET', `${path}?${query}`, { headers: who.key });
  assert.equal(status, 200, query);
  return body;
}

async function sendSeveral(count: number, given: Record<string, unknown>, who = acme): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    app.clock.advance(1);
    ids.unshift((await who.sms(given)).body.id);
  }
  return ids;
}

const idsOf = ({ data }: Page<TextRecord>) => data.map(({ id }) => id);

describe('GET /sms/v1/messages/{id}', () => {
  test('200 with the record as it is now', async () => {
    const { body } = await acme.sms();
    const read = await send(app, 'GET', `${path}/${body.id}`, { headers: acme.key });
    assert.equal(read.status, 200);
    assert.deepEqual(read.body, body);
  });

  test("404 for an unknown id, another application's, and one of another API: all three get the same response", async () => {
    const { body } = await acme.sms();
    const other = await acme.messaging();
    await app.db.database.query('update message set api = 1, body = null where id = $1', [uuidOf(other.body.id)]);
    const sentThere = (await acme.messaging()).body.id;
    const answers = [
      await send<Refusal>(app, 'GET', `${path}/${body.id}`, { headers: eve.key }),
      await send<Refusal>(app, 'GET', `/messaging/v1/messages/${body.id}`, { headers: acme.token }),
      // A verification's text is not readable as a message.
      await send<Refusal>(app, 'GET', `${path}/${other.body.id}`, { headers: acme.key }),
      await send<Refusal>(app, 'GET', `/messaging/v1/messages/${other.body.id}`, { headers: acme.token }),
      await send<Refusal>(app, 'GET', `${path}/${sentThere}`, { headers: acme.key }),
    ];
    for (const id of ['msg_00000000000000000000000000', 'x', 'batch', '%00', '%F0%9F%98%80', 'x'.repeat(200)]) {
      answers.push(await send<Refusal>(app, 'GET', `${path}/${id}`, { headers: acme.key }));
    }
    for (const { status, body } of answers) {
      const { code, details, message } = body;
      assert.deepEqual(
        [status, code, details, message],
        [404, 'NOT_FOUND', [], 'Not found. Check the path and the id.'],
      );
    }
  });
});

describe('GET /sms/v1/messages', () => {
  test('newest first, in pages of limit, until next_cursor is null; records as they are read alone', async () => {
    const who = await createSender(app, { apis: ['sms'] });
    const ids = await sendSeveral(7, {}, who);
    const seen: string[] = [];
    const sizes: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Page<TextRecord> = await list(`limit=3${cursor && `&cursor=${cursor}`}`, who);
      seen.push(...idsOf(page));
      sizes.push(page.data.length);
      cursor = page.next_cursor;
      // What arrives meanwhile is newer than every page to come.
      await sendSeveral(1, {}, who);
    }
    assert.deepEqual([seen, sizes], [ids, [3, 3, 1]]);
    const [newest] = (await list('limit=1', who)).data;
    assert.deepEqual(newest, await who.readSms(newest?.id ?? ''));
  });

  test('limit is 20 unless said, and at most 100; a full last page is the last', async () => {
    const who = await createSender(app, { apis: ['sms'] });
    assert.deepEqual(await list('', who), { data: [], next_cursor: null });
    await Promise.all(Array.from({ length: 21 }, () => who.sms()));
    const usual = await list('', who);
    assert.equal(usual.data.length, 20);
    assert.notEqual(usual.next_cursor, null);
    const all = await list('limit=21', who);
    assert.deepEqual([all.data.length, all.next_cursor], [21, null]);
    assert.equal((await list('limit=100', who)).data.length, 21);
  });

  test('a list filters by to, status and reference, alone and together', async () => {
    const who = await createSender(app, { apis: ['sms'] });
    const [first] = await sendSeveral(1, { to: '+447700900001', reference: 'a' }, who);
    const [second] = await sendSeveral(1, { to: '+447700900001', reference: 'b c&d' }, who);
    const [third] = await sendSeveral(1, { to: '+447700900002', reference: 'a' }, who);
    await send(app, 'DELETE', `${path}/${first}`, { headers: who.key });
    for (const [query, expected] of [
      ['to=%2B447700900001', [second, first]],
      // Browsers and people leave the plus as it is, and then it arrives as a space.
      ['to=+447700900001', [second, first]],
      ['reference=a', [third, first]],
      ['reference=b+c%26d', [second]],
      ['status=queued', [third, second]],
      ['status=canceled', [first]],
      ['status=delivered', []],
      ['to=%2B447700900001&status=queued&reference=b%20c%26d', [second]],
      ['to=%2B447700900002&status=canceled', []],
      ['to=%2B4477009000', []],
    ] as const) {
      assert.deepEqual(idsOf(await list(query, who)), expected, query);
    }
    const page = await list('reference=a&limit=1', who);
    assert.deepEqual(idsOf(await list(`reference=a&limit=1&cursor=${page.next_cursor}`, who)), [first]);
  });

  test("only what this application sent through this API, never a verification's text", async () => {
    const who = await createSender(app);
    const [mine] = await sendSeveral(1, { reference: 'same' }, who);
    await who.messaging({ reference: 'same' });
    await eve.sms({ reference: 'same' });
    const code = await who.sms({ reference: 'same' });
    await app.db.database.query('update message set api = 1, verification_id = id where id = $1', [
      uuidOf(code.body.id),
    ]);
    for (const query of ['', 'reference=same', 'to=%2B447700900123', 'status=queued']) {
      assert.deepEqual(idsOf(await list(query, who)), [mine], query);
    }
    // Another application's cursor is only a position.
    const page = await list('limit=1', eve);
    assert.ok((await list(`cursor=${page.next_cursor ?? ''}`.replace(/cursor=$/, ''), who)).data.length <= 1);
  });

  test('400 for a limit, cursor or status that is not one, and an empty 200 for values that no text can have', async () => {
    const wrong = ['limit=0', 'limit=101', 'limit=1.5', 'limit=', 'limit=x', 'limit=1&limit=2', 'cursor=', 'cursor=x'];
    wrong.push('to=%00', 'reference=%00', 'reference=a%00b');
    for (const limit of ['Infinity', '1e400', '9'.repeat(1000), '0x10', '%205', '5.0', '', '-0', '1&limit=1']) {
      wrong.push(`limit=${limit}`);
    }
    wrong.push('status=lost', 'status=', 'to=a&to=b', `cursor=${Buffer.from("msg_' or 1=1").toString('base64url')}`);
    for (const query of wrong) {
      const { status, body } = await send<Refusal>(app, 'GET', `${path}?${query}`, { headers: acme.key });
      assert.deepEqual([status, body.code], [400, 'INVALID_ARGUMENT'], query);
      assert.equal(body.details[0]?.field, query.split('=')[0]);
    }
    for (const query of ['to=x', 'reference=%27%20or%201=1']) {
      assert.deepEqual(await list(query), { data: [], next_cursor: null }, query);
    }
  });
});
