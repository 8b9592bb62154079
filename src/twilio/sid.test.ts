import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock } from '../../test/support/clock.ts';
import { newId } from '../platform/ids.ts';
import { idOf, sidOf } from './sid.ts';

const clock = createTestClock();

test('a sid is the id in another spelling, both ways', () => {
  for (const [prefix, kind] of [
    ['AC', 'app'],
    ['VA', 'app'],
    ['MG', 'app'],
    ['VE', 'ver'],
    ['VL', 'msg'],
    ['SM', 'msg'],
  ] as const) {
    const id = newId(kind, clock);
    const sid = sidOf(prefix, id);
    assert.match(sid, new RegExp(`^${prefix}[0-9a-f]{32}$`));
    assert.equal(idOf(prefix, sid), id);
  }
});

test('text that is no sid of the kind is none', () => {
  const sid = sidOf('SM', newId('msg', clock));
  for (const text of [
    '',
    'SM',
    sid.slice(1),
    `${sid}0`,
    sid.toUpperCase(),
    sid.replace('SM', 'MM'),
    `SM${'g'.repeat(32)}`,
  ])
    assert.equal(idOf('SM', text), undefined, text);
  assert.equal(idOf('VE', sid), undefined);
});
