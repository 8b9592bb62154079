import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guideEntries, type SearchEntry, search } from './search-index.ts';

const operation = (title: string, path: string, words = ''): SearchEntry => ({
  kind: 'operation',
  title,
  about: path,
  href: `/docs/reference/${words}`,
  method: 'POST',
  words,
});
const field = (title: string, about: string): SearchEntry => ({ kind: 'field', title, about, href: '#', words: '' });

const entries = [
  operation('Send a text', '/sms/v1/messages', 'sendSms'),
  operation('List messages, newest first', '/sms/v1/messages', 'listSms'),
  field('message', 'Send a text · SMS Messaging API'),
  field('messages.to', 'Send up to 100 texts · Messaging API'),
  ...guideEntries([
    {
      slug: 'first-text',
      title: 'Your first text',
      summary: 'In a minute.',
      headings: [{ id: 'start', text: 'Start it' }],
    },
  ]),
];
const found = (query: string) => search(entries, query).map(({ title }) => title);

test('every word must be found, and a title counts most', () => {
  assert.deepEqual(found('message').slice(0, 2), ['message', 'List messages, newest first']);
  assert.equal(found('send text')[0], 'Send a text');
  assert.deepEqual(found('sendsms'), ['Send a text']);
  assert.deepEqual(found('to 100'), ['messages.to']);
  assert.deepEqual(found('SMS/V1'), ['Send a text', 'List messages, newest first']);
});

test('guides are found by their headings, and lead there', () => {
  assert.equal(search(entries, 'start it')[0]?.href, '/docs/guides/first-text#start');
});

test('an empty query finds nothing, and a long query is accepted', () => {
  assert.deepEqual(found('  '), []);
  assert.deepEqual(found('a '.repeat(10_000)), found('a'));
  assert.deepEqual(found('\\ ( [ $'), []);
});
