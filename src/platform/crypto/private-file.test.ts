import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { inShort } from '../../../test/support/effort.ts';
import { StartError } from '../errors.ts';
import { readOrMakePrivateFile } from './private-file.ts';
import { randomBase62 } from './random.ts';

describe('a private file', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'heliograph-private-'));
  });
  after(() => rm(folder, { recursive: true }));

  test('many who ask at the same moment all get the same text, and nothing else is left', async () => {
    const rounds = inShort(5, 20);
    for (let round = 0; round < rounds; round++) {
      const path = join(folder, `secret-${round}`);
      const texts = await Promise.all(
        Array.from({ length: 8 }, () => readOrMakePrivateFile(path, () => randomBase62(43))),
      );
      assert.equal(new Set(texts).size, 1);
      assert.match(texts[0] ?? '', /^[0-9A-Za-z]{43}$/);
      assert.equal((await readFile(path, 'utf8')).trim(), texts[0]);
    }
    assert.equal((await readdir(folder)).length, rounds);
  });

  test('only its owner may read it, also when it was open to others before', async () => {
    const path = join(folder, 'open');
    await writeFile(path, 'given\n');
    await chmod(path, 0o644);
    assert.equal(await readOrMakePrivateFile(path, () => 'made'), 'given');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  test('one that is empty is never taken for a secret', async () => {
    const path = join(folder, 'empty');
    await writeFile(path, '\n');
    await assert.rejects(
      readOrMakePrivateFile(path, () => 'made'),
      (error) => error instanceof StartError && error.message.includes(path),
    );
  });

  test('one that cannot be read is not made anew', async () => {
    await assert.rejects(
      readOrMakePrivateFile(folder, () => 'made'),
      { code: 'EISDIR' },
    );
  });
});
