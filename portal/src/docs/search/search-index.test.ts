import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorEntries, guideEntries, type SearchEntry, search } from './search-index.ts';

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

const application = { isForApplications: true };
const more = [
  { ...operation('Start a verification', '/verify/v1/verifications', 'startVerification'), ...application },
  { ...operation('List messages, newest first', '/sms/v1/messages', 'listSms'), ...application },
  operation('List messages of an application', '/portal/v1/applications/{id}/messages', 'listRecords'),
  field('code', 'Sign in with the code of the second factor · Developer portal: account'),
  { ...field('code', 'Check the code · Verification API'), ...application },
  operation('Read the verification of an application', '/portal/v1/applications/{id}/verifications', 'readOne'),
  ...guideEntries(
    [
      {
        slug: 'limits',
        title: 'Limits and Retry-After',
        summary: 'How to wait.',
        headings: [{ id: 'a-429', text: 'A 429' }],
      },
      { slug: 'from-twilio-verify', title: 'Tutorial: from Twilio Verify', summary: 'Side by side.', headings: [] },
    ],
    { limits: [{ id: 'a-429', text: 'Do not try again sooner: the wait becomes longer.' }] },
  ),
  ...errorEntries([{ name: 'NOT_FOUND', status: '404', summary: 'There is no such `path`.' }]),
];
const first = (query: string) => search(more, query)[0]?.title;

test('words of other products lead to ours', () => {
  for (const query of ['otp', '2fa']) assert.equal(first(query), 'Start a verification', query);
  assert.match(search(more, 'pin')[0]?.about ?? '', /verif/i);
  const fields = ['List verifications', 'List messages', 'Read events', 'List texts'].map((of) => {
    return { ...field('limit', `${of} · Messaging API`), ...application };
  });
  const found = search([...fields, ...more], 'rate limit', 4).map(({ title }) => title);
  assert.deepEqual(found, ['Limits and Retry-After', 'limit', 'limit', 'limit']);
  assert.equal(first('twilio'), 'Tutorial: from Twilio Verify');
});

test('the text of a guide is searched, and leads to its section', () => {
  assert.equal(search(more, 'wait longer sooner')[0]?.href, '/docs/guides/limits#a-429');
});

test('calls of applications come before those of the portal, and an error leads to its page', () => {
  const titles = search(more, 'messages').map(({ title }) => title);
  assert.deepEqual(titles, ['List messages, newest first', 'List messages of an application']);
  assert.equal(search([...more].reverse(), 'verification')[0]?.title, 'Start a verification');
  assert.equal(search(more, 'code')[0]?.about, 'Check the code · Verification API');
  assert.equal(search(more, 'not_found')[0]?.href, '/docs/errors/NOT_FOUND');
  assert.equal(search(more, '404')[0]?.href, '/docs/errors/NOT_FOUND');
});

test('an empty query finds nothing, and a long query is accepted', () => {
  assert.deepEqual(found('  '), []);
  assert.deepEqual(new Set(found('a '.repeat(10_000))), new Set(found('a')));
  assert.deepEqual(found('\\ ( [ $'), []);
});
