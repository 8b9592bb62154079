import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { OutgoingText } from '../carrier/carrier.ts';
import type { Description } from './description.ts';
import { createRenderer } from './render.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const urls = {
  receipts: 'https://sms.example/carriers/v1/a/receipts/t',
  inbound: 'https://sms.example/carriers/v1/a/inbound/t',
};
const textOf = (changes: Partial<OutgoingText> = {}): OutgoingText => ({
  messageId: 'msg_1',
  attempt: 1,
  applicationId: 'app_1',
  lane: 'bulk',
  isCode: false,
  to: '+447700900123',
  from: 'ACME',
  text: 'Hello',
  templateId: null,
  expiresAtMs: nowMs + 600_000,
  parts: [],
  form: null,
  ...changes,
});
const accepted = [{ status: [200] }];
function render(description: Partial<Description>, changes: Partial<OutgoingText> = {}) {
  const whole: Description = { url: '{{base}}/send', accepted, ...description };
  const profile = { description: whole, base: 'https://api.example', secrets: { key: 'k' }, values: { user: 'u/1' } };
  return createRenderer(profile, urls).render(textOf(changes), nowMs);
}

describe('no text changes the request around it', () => {
  const anything = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('{{secret:key}}', '"}],"x":"', '&a=b', '\r\nX: y', '../..', '?a#b', '\u0000'),
  );
  test('in JSON', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const { body } = render({ json: { a: [{ text: '{{text}}', note: 'x {{text}} y' }], n: 5 } }, { text });
        assert.deepEqual(JSON.parse(body ?? ''), { a: [{ text, note: `x ${text} y` }], n: 5 });
      }),
    );
  });
  test('in a form and in a query', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const wanted = text.toWellFormed();
        const { body, url } = render({ form: { text: '{{text}}', b: '1' }, query: { q: '{{text}}' } }, { text });
        assert.deepEqual(
          [...new URLSearchParams(body)],
          [
            ['text', wanted],
            ['b', '1'],
          ],
        );
        assert.deepEqual([...new URL(url).searchParams], [['q', wanted]]);
      }),
    );
  });
  test('in a path: it stays one step below the same host', () => {
    fc.assert(
      fc.property(
        anything.filter((text) => text !== '.' && text !== '..' && text !== ''),
        (from) => {
          const { url } = render({ url: '{{base}}/v1/{{from}}/send' }, { from: from.toWellFormed() });
          const { host, pathname, search, hash } = new URL(url);
          assert.deepEqual([host, pathname.split('/').length, search, hash], ['api.example', 4, '', '']);
        },
      ),
    );
  });
  test('in a header: no second one begins', () => {
    fc.assert(
      fc.property(anything, (from) => {
        const { headers } = render({ headers: { 'X-From': 'a {{from}}' } }, { from });
        assert.match(headers['X-From'] ?? '', /^[\x20-\x7e]*$/);
      }),
    );
  });
});

describe('placeholders', () => {
  test('each has its value', () => {
    const json = {
      id: '{{id}}',
      digits: '{{to|digits}}',
      plus: '{{to|plus}}',
      zero: '{{to|zerozero}}',
      seconds: '{{validity|int}}',
      most: '{{validity|clamp:1:60|int}}',
      ms: '{{validity|ms}}',
      minutes: '{{validity|minutes|int}}',
      until: '{{expires_at|iso}}',
      type: '{{alphabet|map:gsm=text;unicode=unicode}}',
      parts: '{{segments|int}}',
      user: '{{value:user}}',
      none: '{{template_id}}',
      deep: { only: '{{template_id}}' },
      url: '{{receipts_url}}?m={{id}}',
    };
    assert.deepEqual(JSON.parse(render({ json }).body ?? ''), {
      id: 'msg_1',
      digits: '447700900123',
      plus: '+447700900123',
      zero: '00447700900123',
      seconds: 600,
      most: 60,
      ms: '600000',
      minutes: 10,
      until: '2026-01-01T12:10:00.000Z',
      type: 'text',
      parts: 1,
      user: 'u/1',
      url: `${urls.receipts}?m=msg_1`,
    });
    assert.equal(
      JSON.parse(render({ json: { type: '{{alphabet|map:gsm=text;unicode=unicode}}' } }, { text: 'Привет' }).body ?? '')
        .type,
      'unicode',
    );
    assert.equal(JSON.parse(render({ json: { t: '{{template_id}}' } }, { templateId: '1107' }).body ?? '').t, '1107');
  });
  test('a value in a path is escaped, the base is not', () => {
    assert.equal(render({ url: '{{base}}/a/{{value:user}}' }).url, 'https://api.example/a/u%2F1');
  });
});

describe('auth', () => {
  const header = (auth: NonNullable<Description['auth']>) => render({ auth, json: { a: '1' } }).headers.Authorization;
  test('basic, bearer, a header of its own', () => {
    assert.equal(
      header({ kind: 'basic', user: 'me', password: '{{secret:key}}' }),
      `Basic ${Buffer.from('me:k').toString('base64')}`,
    );
    assert.equal(header({ kind: 'bearer', value: '{{secret:key}}' }), 'Bearer k');
    assert.equal(header({ kind: 'header', name: 'Authorization', value: 'App {{secret:key}}' }), 'App k');
  });
  test('in the query, in the form, in the JSON', () => {
    assert.equal(
      render({ auth: { kind: 'query', name: 'key', value: '{{secret:key}}' } }).url,
      'https://api.example/send?key=k',
    );
    assert.equal(
      render({ auth: { kind: 'body', name: 'key', value: '{{secret:key}}' }, form: { a: '1' } }).body,
      'a=1&key=k',
    );
    assert.equal(
      render({ auth: { kind: 'body', name: 'key', value: '{{secret:key}}' }, json: { a: '1' } }).body,
      '{"a":"1","key":"k"}',
    );
  });
  test('the log shows the template, never what it stands for', () => {
    const description: Description = { url: '{{base}}/v1/{{secret:key}}/send?x={{text}}', accepted };
    const profile = { description, base: 'https://api.example', secrets: { key: 'k-Zq7' }, values: {} };
    assert.equal(createRenderer(profile, urls).shown, 'POST /v1/{secret:key}/send');
  });
});
