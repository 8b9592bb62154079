import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isOnThisMachine, isOpenToReaders } from './address.ts';
import { readSandboxFile } from './sandbox-file.ts';

let dataFolder: string;
const userId = process.geteuid?.();
const right = { base_url: 'http://127.0.0.1:8080', token_url: '', portal: {}, applications: [] };

function read(given: { content?: unknown; mode?: number; userId?: number | undefined }) {
  const { content = right, mode = 0o600 } = given;
  const path = join(dataFolder, 'sandbox-credentials.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(path, mode);
  const env = { read: () => undefined, configFolder: '', stateFolder: '', dataFolder };
  return readSandboxFile({ ...env, userId: 'userId' in given ? given.userId : userId });
}

describe('the credentials of a sandbox in a folder', () => {
  before(() => {
    dataFolder = mkdtempSync(join(tmpdir(), 'heliograph-sandbox-file-'));
  });
  after(() => rmSync(dataFolder, { recursive: true }));

  test('are read from a file that only this user can write', () => {
    assert.deepEqual(read({}).credentials, right);
    assert.deepEqual(read({ mode: 0o400 }).credentials, right);
    assert.deepEqual(read({ userId: undefined, mode: 0o644 }).credentials, right, 'Windows has no modes');
  });

  for (const [what, given, reason] of [
    ['a file of another user', { userId: (userId ?? 0) + 1 }, /belongs to another user/],
    ['a file that the group can write', { mode: 0o620 }, /other users have permissions/],
    ['a file that everyone can read', { mode: 0o604 }, /other users have permissions/],
    ['a file that is not JSON', { content: '{' }, /does not contain credentials/],
    ['a file with other JSON', { content: 'null' }, /does not contain credentials/],
    ['a long file', { content: `${JSON.stringify(right)}${' '.repeat(70_000)}` }, /does not contain credentials/],
    [
      'an address on another machine',
      { content: { ...right, base_url: 'https://sms.example.com' } },
      /not on this machine/,
    ],
    ['no address', { content: { ...right, base_url: 'file:///etc/passwd' } }, /not on this machine/],
  ] as const) {
    test(`are not taken from ${what}`, () => {
      const { credentials, unfit } = read(given);
      assert.equal(credentials, undefined);
      assert.match(unfit?.reason ?? '', reason);
    });
  }

  test('are not taken from a folder of that name', () => {
    const env = { read: () => undefined, configFolder: '', stateFolder: '', userId };
    mkdirSync(join(dataFolder, 'other/sandbox-credentials.json'), { recursive: true });
    assert.match(readSandboxFile({ ...env, dataFolder: join(dataFolder, 'other') }).unfit?.reason ?? '', /not a file/);
  });

  test('are undefined without a file', () => {
    const env = { read: () => undefined, configFolder: '', stateFolder: '', userId };
    const { credentials, unfit } = readSandboxFile({ ...env, dataFolder: join(dataFolder, 'none') });
    assert.deepEqual([credentials, unfit], [undefined, undefined]);
  });
});

test('addresses on this machine', () => {
  for (const url of [
    'http://127.0.0.1:8080',
    'http://127.1',
    'http://[::1]:80',
    'https://localhost',
    'http://2130706433',
  ])
    assert.equal(isOnThisMachine(url), true, url);
  for (const url of [
    'http://127.0.0.1.example.com',
    'http://127.example',
    'http://localhost.example',
    'http://10.0.0.1',
  ])
    assert.deepEqual([isOnThisMachine(url), isOpenToReaders(url)], [false, true], url);
});
