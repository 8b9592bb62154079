import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { describe, test } from 'node:test';
import {
  createAddressGuard,
  createAlertGuard,
  createWebhookGuard,
  isLoopback,
  isPublicAddress,
} from './address-guard.ts';

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
  const { urlProblem } = createAddressGuard({ environment: 'production', allowPrivate: false });
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
  test('a name of this machine is refused at once', () => {
    assert.match(urlProblem('https://localhost/') ?? '', /must lead to a public address/);
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

describe('alerts', () => {
  const insideAndOutside = ['127.0.0.1', '10.1.2.3', 'fd00::1', '8.8.8.8', '2a00:1450::1'];
  const allowed = (url: string, environment: 'sandbox' | 'production') =>
    insideAndOutside.filter(createAlertGuard(url, environment).isAllowed);
  test('in production a plain call goes to loopback and private addresses only, one with TLS to any', () => {
    assert.deepEqual(allowed('http://alerts.internal/', 'production'), ['127.0.0.1', '10.1.2.3', 'fd00::1']);
    assert.deepEqual(allowed('https://alerts.example.com/', 'production'), insideAndOutside);
    assert.deepEqual(allowed('http://alerts.example.com/', 'sandbox'), insideAndOutside);
  });
});

describe('webhooks', () => {
  /** One way to write the same few machines that must not be reached: as a host of a URL. */
  const forbidden = [
    // This machine: decimal, octal, hexadecimal, short, with full stops and in other scripts.
    ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '017700000001', '0177.0.0.1', '0177.0.0.01', '0x7f.0.0.1'],
    ...[
      '0x7f000001',
      '0x7f.1',
      '0x7F.0x0.0x0.0x1',
      '127.0.0.1.',
      '127.255.255.254',
      '０x7f.1',
      '127。0。0。1',
      '①②⑦.0.0.1',
    ],
    ...['0', '0.0.0.0', '0x0', '00', '%31%32%37.0.0.1', '127.0.0.0x1'],
    // Private, shared, link-local, multicast, reserved, examples.
    ...['10.0.0.1', '012.0.0.1', '167772161', '0xa000001', '172.16.0.1', '172.31.255.255', '2886729729', '192.168.1.1'],
    ...[
      '3232235777',
      '0xc0a80101',
      '192.168.257',
      '100.64.0.1',
      '198.18.0.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
    ],
    ...['192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1'],
    // Metadata of clouds.
    ...[
      '169.254.169.254',
      '2852039166',
      '0xa9fea9fe',
      '0251.0376.0251.0376',
      '169.254.43518',
      '[::ffff:169.254.169.254]',
    ],
    ...['100.100.100.200', '192.0.0.192', '168.63.129.16', '[fd00:ec2::254]', '[fe80::a9fe:a9fe]'],
    // IPv6: itself, mapped, compatible, translated, tunnels, local.
    ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:0:127.0.0.1]'],
    ...['[0:0:0:0:0:ffff:7f00:0001]', '[::127.0.0.1]', '[::7f00:1]', '[::ffff:10.0.0.1]', '[::ffff:c0a8:101]'],
    ...['[64:ff9b::127.0.0.1]', '[64:ff9b::a00:1]', '[64:ff9b::c0a8:101]', '[64:ff9b:1::10.0.0.1]'],
    ...['[2002:7f00:1::1]', '[2002:c0a8:101::]', '[2001:0:7f00:1::]', '[fc00::1]', '[fd12:3456::1]', '[fe80::1]'],
    ...['[ff02::1]', '[2001:db8::1]', '[3fff::1]', '[100::1]', '[fec0::1]', '[5f00::1]'],
  ];
  const guard = createWebhookGuard('production');

  test('at least 60 spellings of addresses inside are refused', () => {
    assert.ok(forbidden.length >= 60, `${forbidden.length} spellings`);
    assert.deepEqual(
      forbidden.filter((host) => guard.urlProblem(`https://${host}/hook`) === undefined),
      [],
    );
    for (const host of ['localhost', 'LOCALHOST.', 'api.localhost'])
      assert.match(guard.urlProblem(`https://${host}/`) ?? '', /^must lead to/, host);
    // A zone id is no URL, and at a connect it names a link of this machine.
    for (const host of ['[fe80::1%25eth0]', '[fe80::1%eth0]', '[::1%lo]'])
      assert.match(guard.urlProblem(`https://${host}/`) ?? '', /^must /, host);
    for (const address of ['fe80::1%eth0', '::1%lo', '::ffff:127.0.0.1%lo'])
      assert.equal(guard.isAllowed(address), false);
  });

  test('plain http, other schemes and credentials are refused in production, and the reason names no address', async () => {
    for (const url of ['http://8.8.8.8/', 'ftp://8.8.8.8/', 'file:///etc/passwd', 'gopher://8.8.8.8/', '//8.8.8.8/'])
      assert.match(guard.urlProblem(url) ?? '', /^must /, url);
    assert.match(guard.urlProblem('https://me:secret@8.8.8.8/') ?? '', /user or a password/);
    const inside = createWebhookGuard('production', (_, __, done) => done(null, [{ address: '10.1.2.3', family: 4 }]));
    assert.equal(await inside.problem('https://wiki.internal/'), 'must lead to a public address');
  });

  test('every address inside is refused when a name leads to it, among public ones too', async () => {
    for (const address of insiders.filter((each) => isIP(each) !== 0)) {
      const found = [
        { address: '8.8.8.8', family: 4 },
        { address, family: isIP(address) },
      ];
      const leading = createWebhookGuard('production', (_, __, done) => done(null, found));
      assert.match((await leading.problem('https://example.com/')) ?? '', /^must lead/, address);
      for (const all of [true, false]) {
        const error = await new Promise<NodeJS.ErrnoException | null>((done) =>
          leading.lookup('example.com', { all }, (refused) => done(refused)),
        );
        assert.equal(error?.code, 'EADDRESSREFUSED', address);
      }
    }
  });

  test('the sandbox allows this machine and the internet, and nothing in between', async () => {
    const sandbox = createWebhookGuard('sandbox', (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }]));
    for (const url of ['http://127.0.0.1:8080/x', 'http://[::1]/', 'https://8.8.8.8/', 'http://8.8.8.8/'])
      assert.equal(sandbox.urlProblem(url), undefined, url);
    assert.equal(await sandbox.problem('http://localhost:1/'), undefined);
    for (const url of ['http://10.0.0.1/', 'http://169.254.169.254/', 'http://192.168.0.1/', 'http://0.0.0.0/'])
      assert.match(sandbox.urlProblem(url) ?? '', /^must lead/, url);
  });
});
