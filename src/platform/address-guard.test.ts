import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAddressGuard, isLoopback, isPublicAddress } from './address-guard.ts';

const publicOnes = [
  '8.8.8.8',
  '1.1.1.1',
  '172.32.0.1',
  '2606:4700::1111',
  '2a00:1450:4001::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
];
const insiders = [
  ...[
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
  ],
  ...[
    '192.168.0.1',
    '192.0.0.8',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
  ],
  ...[
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
  ],
  ...[
    '64:ff9b:1::1',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1111%eth0',
    'fc00::1',
    'fd00::1',
    'ff02::1',
    '2001:db8::1',
  ],
  ...['2002:7f00:1::', '2001:0:7f00:1::', '3fff::1', '100::1', '', 'localhost', '8.8.8', '256.1.1.1'],
];

test('public addresses are public, in every form', () => {
  assert.deepEqual(
    publicOnes.filter((address) => !isPublicAddress(address)),
    [],
  );
});

test('addresses inside, special ones and what is no address are not public', () => {
  assert.deepEqual(insiders.filter(isPublicAddress), []);
});

test('loopback, in every form', () => {
  const own = [
    '127.0.0.1',
    '127.8.9.1',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:2',
    '64:ff9b::7f00:1',
  ];
  assert.deepEqual(
    own.filter((address) => !isLoopback(address)),
    [],
  );
  assert.deepEqual(
    ['10.0.0.1', '::2', '0.0.0.0', '::', '128.0.0.1', '::ffff:8.8.8.8', 'localhost', ''].filter(isLoopback),
    [],
  );
});

describe('URLs in production', () => {
  const { urlProblem, problem } = createAddressGuard({ environment: 'production', allowPrivate: false });
  const spelled = [
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://0x7f.1/',
    'https://127.1/',
    'https://[::ffff:7f00:1]/',
    'https://0/',
  ];
  for (const url of [...spelled, 'https://10.0.0.1/x', 'https://[::1]:8080/', 'https://[64:ff9b::a00:1]/']) {
    test(`${url} is refused however it is spelled`, () =>
      assert.match(urlProblem(url) ?? '', /must lead to a public address/));
  }
  for (const url of [
    'http://api.example.com',
    'ftp://api.example.com',
    'nonsense',
    'https://',
    'https://a:b@example.com/',
    `https://${'a'.repeat(3000)}/`,
  ]) {
    test(`${url.slice(0, 40)} is refused`, () => assert.match(urlProblem(url) ?? '', /^must /));
  }
  test('a name that leads inside is refused when it is resolved', async () => {
    assert.equal(urlProblem('https://localhost/'), undefined);
    assert.match((await problem('https://localhost/')) ?? '', /must lead to a public address/);
  });
  test('an address on the internet is fine', () => assert.equal(urlProblem('https://8.8.8.8/x'), undefined));
});

describe('with allow_private', () => {
  const { urlProblem } = createAddressGuard({ environment: 'production', allowPrivate: true });
  test('an address inside is fine, without TLS too', () => {
    assert.equal(urlProblem('http://10.0.0.1:8080/x'), undefined);
    assert.equal(urlProblem('https://[fd00::1]/x'), undefined);
  });
});

describe('in the sandbox', () => {
  const { urlProblem, problem, lookup } = createAddressGuard({ environment: 'sandbox', allowPrivate: true });
  test('only this machine, whatever the settings allow', async () => {
    assert.equal(await problem('http://127.0.0.1:1/'), undefined);
    assert.equal(await problem('http://localhost:1/'), undefined);
    assert.match(urlProblem('https://8.8.8.8/') ?? '', /nothing leaves the sandbox/);
    assert.match(urlProblem('https://10.0.0.1/') ?? '', /nothing leaves the sandbox/);
  });
  test('a connect resolves to the addresses that were checked', async () => {
    const found = await new Promise((done, fail) =>
      lookup('localhost', { all: true }, (error, addresses) => (error === null ? done(addresses) : fail(error))),
    );
    assert.ok(Array.isArray(found) && found.length > 0, 'localhost has an address');
  });
});

test('a connect to a name that leads inside is refused', async () => {
  const { lookup } = createAddressGuard({ environment: 'production', allowPrivate: false });
  for (const all of [true, false]) {
    const error = await new Promise<NodeJS.ErrnoException | null>((done) =>
      lookup('localhost', { all }, (found) => done(found)),
    );
    assert.equal(error?.code, 'EADDRESSREFUSED');
  }
});
