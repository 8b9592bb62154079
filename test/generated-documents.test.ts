// The documents that `npm run docs` writes agree with the code.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

test('.env.example and the documents of settings and routes agree with the code', () => {
  const check = ['--import', 'tsx', 'scripts/write-docs.ts', '--check'];
  const { status, stdout, stderr } = spawnSync(process.execPath, check, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
});
