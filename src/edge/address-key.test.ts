import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { inShort } from '../../test/support/effort.ts';
import { addressKey } from './address-key.ts';

test('IPv4 is its own key, also inside IPv6', () => {
  for (const address of ['127.0.0.1', '0.0.0.0', '255.255.255.255', '203.0.113.9']) {
    assert.equal(addressKey(address), address);
    assert.equal(addressKey(`::ffff:${address}`), address);
    assert.equal(addressKey(`::FFFF:${address}`), address);
    assert.equal(addressKey(`0:0:0:0:0:ffff:${address}`), address);
  }
  assert.equal(addressKey('::ffff:7f00:1'), '127.0.0.1');
  assert.equal(addressKey('0000:0000:0000:0000:0000:ffff:cb00:7109'), '203.0.113.9');
});

test('IPv6 counts by /64, however it is written', () => {
  for (const same of [
    '2001:db8:0:1::',
    '2001:db8:0:1::1',
    '2001:DB8:0:1:ffff:ffff:ffff:ffff',
    '2001:0db8:0000:0001:1:2:3:4',
    '2001:db8::1:0:0:0:5',
    '2001:db8:0:1::192.0.2.1',
    '2001:db8:0:1::1%eth0',
  ]) {
    assert.equal(addressKey(same), '2001:db8:0:1::/64', same);
  }
  assert.notEqual(addressKey('2001:db8:0:2::1'), '2001:db8:0:1::/64');
  assert.equal(addressKey('::1'), '0:0:0:0::/64');
  assert.equal(addressKey('::'), '0:0:0:0::/64');
  assert.equal(addressKey('fe80::1%lo'), 'fe80:0:0:0::/64');
  assert.equal(addressKey('1:2:3:4:5:6:7::'), '1:2:3:4::/64');
});

test('all that is no address has one key', () => {
  const nonsense = [
    '',
    'localhost',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '1..2.3',
    '1.2.3.',
    '1.2.3.4:80',
    '[::1]',
    ':',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '1::2::3',
    '12345::',
    '1:2:3:4:5:6:7:',
    ':1:2:3:4:5:6:7',
    '::g',
    '::ffff:1.2.3.999',
    '::1.2.3.4:5',
    '%eth0',
    'unix:/run/socket',
    'a'.repeat(100_000),
  ];
  for (const text of nonsense) assert.equal(addressKey(text), 'unknown', text.slice(0, 50));
});

test('what node takes for an address has a key of its own, and nothing else has', () => {
  const group = fc.stringMatching(/^[0-9a-fA-F]{0,5}$/);
  const made = fc.array(group, { minLength: 1, maxLength: 9 }).map((groups) => groups.join(':'));
  const dotted = fc.array(fc.nat({ max: 300 }), { minLength: 3, maxLength: 5 }).map((parts) => parts.join('.'));
  const mixed = fc.tuple(made, dotted).map(([head, tail]) => `${head}:${tail}`);
  const any = fc.oneof(fc.ipV4(), fc.ipV6(), made, dotted, mixed, fc.string());
  fc.assert(
    fc.property(any, (text) => {
      assert.equal(addressKey(text) !== 'unknown', isIPv4(text) || isIPv6(text), text);
    }),
    { numRuns: inShort(1500, 5000) },
  );
});

test('the /64 agrees with the URL parser’s reading of the address', () => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
      assert.equal(addressKey(canonical), addressKey(text));
      if (addressKey(text).includes('.')) return;
      const [head = '', tail] = canonical.split('::');
      const left = head === '' ? [] : head.split(':');
      const right = tail === undefined || tail === '' ? [] : tail.split(':');
      const groups = [...left, ...new Array<string>(8 - left.length - right.length).fill('0'), ...right];
      assert.equal(addressKey(text), `${groups.slice(0, 4).join(':')}::/64`);
    }),
    { numRuns: inShort(600, 2000) },
  );
});
