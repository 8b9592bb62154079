import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressProblem, isAllowed, toBlockList } from './addresses.ts';

test('an entry is an address or a CIDR, none wider than /24 or /48', () => {
  for (const right of ['203.0.113.7', '203.0.113.0/24', '203.0.113.7/32', '2001:db8::1', '2001:db8::/48'])
    assert.equal(addressProblem(right), undefined, right);
  for (const wrong of [
    '',
    'x',
    '203.0.113.0/23',
    '203.0.113.0/33',
    '203.0.113.0/',
    '203.0.113.0/24/1',
    '2001:db8::/47',
    'fe80::1%eth0',
    '::/48',
    '::ffff:0:0/96',
    '::ffff:203.0.113.0/120',
  ])
    assert.match(addressProblem(wrong) ?? '', /^must/, wrong);
});

test('an address is allowed if an entry has it, also when it is mapped into IPv6', () => {
  const list = toBlockList(['203.0.113.0/28', '2001:db8::/64']);
  assert.ok(list !== undefined);
  assert.ok(isAllowed(list, '203.0.113.9'));
  assert.ok(isAllowed(list, '::ffff:203.0.113.9'));
  assert.ok(isAllowed(list, '2001:db8::5'));
  for (const other of ['203.0.113.16', '2001:db8:0:1::5', 'nonsense', '']) assert.ok(!isAllowed(list, other), other);
  assert.equal(toBlockList([]), undefined);
});
