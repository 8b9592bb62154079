import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detailsOf } from './details.ts';

test('a change shows only what differs, and other details are unchanged', () => {
  const [from, to] = [
    { plan: 'free', per_minute: 60, segments_per_day: null },
    { plan: 'free', per_minute: 90, segments_per_day: 1000 },
  ];
  assert.deepEqual(detailsOf({ from, to }), [
    ['per_minute', '60 → 90'],
    ['segments_per_day', '– → 1000'],
  ]);
  assert.deepEqual(detailsOf({ name: 'Acme', from: 'owner', to: 'viewer', settings: ['host', 'port'], paused: true }), [
    ['name', 'Acme'],
    ['settings', 'host, port'],
    ['paused', 'true'],
    ['from', 'owner'],
    ['to', 'viewer'],
  ]);
  assert.deepEqual(detailsOf({}), []);
});
