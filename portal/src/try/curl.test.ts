import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { curlOf } from './curl.ts';

test('a shell reads the command as the request that was sent, for any text', () => {
  const body = JSON.stringify({ message: `it's "5" $HOME \`id\`\n` }, null, 2);
  const headers = { apikey: 'hg_sandbox_x', 'Content-Type': 'application/json' };
  const command = curlOf({ method: 'POST', path: '/sms/v1/messages', headers, body }, 'http://127.0.0.1:8080');
  const words = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${command}`], { encoding: 'utf8' });
  assert.deepEqual(words.split('\0').slice(0, -1), [
    '-i',
    '-X',
    'POST',
    'http://127.0.0.1:8080/sms/v1/messages',
    '-H',
    'apikey: hg_sandbox_x',
    '-H',
    'Content-Type: application/json',
    '-d',
    body,
  ]);
});
