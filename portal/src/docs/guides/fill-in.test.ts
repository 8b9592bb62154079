import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillIn } from './fill-in.ts';

const none = { apiKey: '', clientId: '', clientSecret: '' };
const guide = '<p>hg_sandbox_…</p><pre><code>URL=http://127.0.0.1:8080 KEY=hg_sandbox_… ID=cli_…</code></pre>';

test('samples have the address and the credentials of the reader; prose and unknown ones stay', () => {
  const filled = fillIn(guide, 'https://sms.example.com', { ...none, apiKey: 'hg_live_$&1' });
  assert.equal(
    filled,
    '<p>hg_sandbox_…</p><pre><code>URL=https://sms.example.com KEY=hg_live_$&amp;1 ID=cli_…</code></pre>',
  );
  assert.equal(fillIn(guide, 'http://127.0.0.1:8080', none), guide);
});

test('a pasted credential cannot bring markup', () => {
  assert.ok(!fillIn(guide, 'http://x', { ...none, apiKey: '<img onerror=alert(1)>' }).includes('<img'));
});
