import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMasterFinder, isSentinelAddress, readSentinelAddress } from './redis-sentinel.ts';

const plain = 'redis+sentinel://s1:26379,s2/mymaster';

test('an address names Sentinels, the master’s name, and how to sign in to both', () => {
  assert.ok(isSentinelAddress(plain));
  assert.ok(!isSentinelAddress('redis://s1:6379'));
  const { sentinels, master, masterUrl } = readSentinelAddress(plain);
  assert.deepEqual(sentinels, ['redis://s1:26379', 'redis://s2:26379']);
  assert.equal(master, 'mymaster');
  assert.equal(masterUrl('10.0.0.11', '6379'), 'redis://10.0.0.11:6379');
  const full = readSentinelAddress('rediss+sentinel://me:p%40ss@s1/mymaster/2?sentinel_password=a/b&sentinel_user=you');
  assert.deepEqual(full.sentinels, ['rediss://you:a%2Fb@s1:26379']);
  assert.equal(full.masterUrl('::1', '6379'), 'rediss://me:p%40ss@[::1]:6379/2');
});

test('a wrong address is refused', () => {
  for (const url of ['redis+sentinel://s1', 'redis+sentinel:///mymaster', 'valkey+sentinel://s1/mymaster'])
    assert.throws(() => readSentinelAddress(url), /be an address like/, url);
  assert.throws(() => readSentinelAddress('redis+sentinel://s1,,s2/mymaster'), /name Sentinels like/);
  const many = Array.from({ length: 10 }, (_, n) => `s${n}`).join(',');
  assert.throws(() => readSentinelAddress(`redis+sentinel://${many}/mymaster`), /at most 9/);
});

test('the newest decision counts: a Sentinel that was cut off names the master before', async () => {
  const answers: Record<string, unknown> = {
    'redis://s1:26379': ['ip', '10.0.0.11', 'port', '6379', 'config-epoch', '3'],
    'redis://s2:26379': ['ip', '10.0.0.12', 'port', '6379', 'config-epoch', '4'],
  };
  const connect = async (url: string) => ({ ask: async () => answers[url], close() {} });
  const finder = createMasterFinder({ address: readSentinelAddress(plain), connect });
  assert.equal(await finder.find(), 'redis://10.0.0.12:6379');
  answers['redis://s2:26379'] = null;
  assert.equal(await finder.find(), 'redis://10.0.0.11:6379');
  answers['redis://s1:26379'] = [];
  await assert.rejects(finder.find(), /no Sentinel names the master/);
  finder.close();
});
