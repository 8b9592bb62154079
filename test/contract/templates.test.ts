// The texts of codes that operators set by application and country (section 14 of the contract).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTextRenderer } from '../../src/compose/verify/text-renderer.ts';
import { findTextsToSend, templateIdOf } from '../../src/messages/text/text-to-send.ts';
import { uuidOf } from '../../src/platform/ids.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import type { TestDeveloper } from '../support/developer.ts';
import { createOperator } from '../support/operator.ts';
import { type Caller, createProduction, type Production } from '../support/production.ts';
import type { Refusal } from '../support/texts.ts';
import { createVerifyCaller } from '../support/verify-caller.ts';

interface Template extends Refusal {
  country: string;
  text: string;
  template_id: string | null;
  updated_at: string;
}

const pathOf = (id: string, country = '') =>
  `/portal/v1/operator/applications/${id}/templates${country === '' ? '' : `/${country}`}`;
const indian = '{{code}} is your ACME code, valid {{minutes}} minutes. -ACME';

describe('in production', () => {
  let production: Production;
  let app: TestApp;
  let operator: TestDeveloper;
  let acme: Caller;
  before(async () => {
    production = await createProduction();
    ({ app, operator } = production);
    acme = await production.createCaller({ apis: ['verify'] });
  });
  after(() => app.close());

  const put = (country: string, body: object, id = acme.id) =>
    operator.send<Template>('PUT', pathOf(id, country), body);

  /** The text that a start sends, as its carrier gets it. */
  async function textOf(to: string, given: object = {}) {
    const { status, body } = await acme.start(to, given);
    assert.equal(status, 200, JSON.stringify(body));
    const uuid = uuidOf(body.delivery?.message_id ?? '');
    const text = (await findTextsToSend(app.db.database, [uuid])).get(uuid);
    assert.ok(text !== undefined, 'the text is there');
    return { text: createTextRenderer(app.keys, 'production')(text), templateId: templateIdOf(text), stored: text };
  }

  test('an operator sets it, the code of that country has it, with its template id; then ours again', async () => {
    const set = await put('in', { text: indian, template_id: '1107160000000012345' });
    const updated_at = new Date(app.clock.nowMs()).toISOString();
    const template = { country: 'IN', text: indian, template_id: '1107160000000012345', updated_at };
    assert.deepEqual([set.status, set.body], [200, template]);
    assert.deepEqual((await operator.send('GET', pathOf(acme.id, 'IN'))).body, template);
    assert.deepEqual((await operator.send('GET', pathOf(acme.id))).body, { data: [template], next_cursor: null });

    const autofill = { domain: 'acme.example' };
    const sent = await textOf('+919876543210', { locale: 'de', autofill, ttl_seconds: 240, code_length: 8 });
    assert.match(sent.text, /^\d{8} is your ACME code, valid 4 minutes\. -ACME$/);
    assert.equal(sent.templateId, '1107160000000012345');
    assert.doesNotMatch(JSON.stringify(sent.stored), new RegExp(sent.text.slice(0, 8)), 'the code is not stored');
    const elsewhere = await textOf('+447400300001');
    assert.match(elsewhere.text, /ACME/);
    assert.equal(elsewhere.templateId, null);

    const changed = await put('IN', { text: 'Code {{code}}' });
    assert.deepEqual([changed.body.text, changed.body.template_id], ['Code {{code}}', null]);
    assert.match((await textOf('+919876543211')).text, /^Code \d{6}$/);
    assert.equal((await operator.send('DELETE', pathOf(acme.id, 'IN'))).status, 204);
    assert.equal((await operator.send('DELETE', pathOf(acme.id, 'IN'))).status, 404);
    assert.equal((await operator.send('GET', pathOf(acme.id, 'IN'))).status, 404);
    assert.doesNotMatch((await textOf('+919876543212')).text, /^Code \d{6}$/);
  });

  test('400 says what is wrong with a text', async () => {
    for (const [text, problem] of [
      ['no code', /must have \{\{code\}\} once, this has it not at all/],
      ['{{code}} {{code}}', /once, this has it 2 times/],
      ['{{code}} {{name}}', /no braces but those/],
      ['{{code}} {minutes}', /no braces but those/],
      ['{{{code}}}', /no braces but those/],
      ['{{code}} }', /no braces but those/],
      [`{{code}} ${'x'.repeat(150)}`, /must fit one segment with a code of ten digits, this needs 2 \(GSM-7\)/],
      [`{{code}} ${'ж'.repeat(60)}`, /this needs 2 \(UCS-2\)/],
      [`{{code}}${'x'.repeat(400)}`, /one segment with/],
      ['{{code}} \ud800', /./],
      ['{{code}} \0', /./],
      ['', /./],
      [7, /./],
      [undefined, /./],
    ] as const) {
      const { status, body } = await put('IN', { text });
      assert.deepEqual([status, body.details[0]?.field], [400, 'text'], `${text}`);
      assert.match(body.details[0]?.message ?? '', problem);
    }
    assert.equal((await put('IN', { text: `{{code}}${'x'.repeat(150)}` })).status, 200, 'exactly one segment');
    for (const template_id of ['', 'a b', 'x'.repeat(65), 'ü', 7]) {
      const { status, body } = await put('IN', { text: indian, template_id });
      assert.deepEqual([status, body.details[0]?.field], [400, 'template_id']);
    }
    for (const country of ['XX', 'India', '1']) assert.equal((await put(country, { text: indian })).status, 400);
  });

  test('404: applications that are not there, and everyone who is no operator', async () => {
    for (const id of ['app_01jcq0000000000000000000zz', 'x', '%00']) {
      assert.equal((await put('IN', { text: indian }, id)).status, 404);
      assert.equal((await operator.send('GET', pathOf(id))).status, 404);
      assert.equal((await operator.send('DELETE', pathOf(id, 'IN'))).status, 404);
    }
    for (const method of ['PUT', 'GET', 'DELETE']) {
      const body = method === 'PUT' ? { text: indian } : undefined;
      assert.equal((await acme.developer.send(method, pathOf(acme.id, 'IN'), body)).status, 404);
    }
  });
});

test('in the sandbox the phone shows it, and its code is right', async () => {
  const app: TestApp = await createTestApp();
  const operator = await createOperator(app);
  const caller = await createVerifyCaller(app);
  const { rows } = await app.db.database.query<{ id: string }>('select id from application order by id desc limit 1');
  const put = await operator.send('PUT', pathOf(rows[0]?.id ?? '', 'GB'), { text: 'Hi: {{code}} ({{minutes}})' });
  assert.equal(put.status, 200);
  const to = '+447400555001';
  const { body } = await caller.start({ to, channel: 'sms' });
  const [shown] = await caller.texts(to, 1);
  const code = /^Hi: (\d{6}) \(10\)$/.exec(shown?.text ?? '')?.[1] ?? '';
  assert.equal((await caller.check(body.id, code)).body.status, 'approved');
  await app.close();
});
