import assert from 'node:assert/strict';
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { StartError } from '../errors.ts';
import { findPostgresBinaries, linkLibraries } from './binaries.ts';

describe('the binaries of Postgres', () => {
  /** A package as npm unpacks it when no script is run: libraries, and a list of the links that are missing. */
  let root: string;
  let ownFolder: string;
  const links = ['libpq.so', 'libpq.so.5'];
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'heliograph-package-'));
    ownFolder = join(root, 'own');
    await mkdir(join(root, 'native/lib'), { recursive: true });
    await writeFile(join(root, 'native/lib/libpq.so.5.18'), 'a library');
    const list = links.map((name) => ({ source: 'native/lib/libpq.so.5.18', target: `native/lib/${name}` }));
    await writeFile(join(root, 'native/pg-symlinks.json'), JSON.stringify(list));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  async function assertLinked(folder: string): Promise<void> {
    for (const name of links) {
      assert.equal(await readFile(join(folder, 'native/lib', name), 'utf8'), 'a library');
      assert.ok((await lstat(join(folder, 'native/lib', name))).isSymbolicLink());
    }
    assert.deepEqual(
      (await readdir(join(folder, 'native/lib'))).toSorted((a, b) => (a < b ? -1 : 1)),
      [...links, 'libpq.so.5.18'],
    );
  }

  test('missing links are made, once, by several that start at the same moment', async () => {
    await Promise.all(Array.from({ length: 5 }, () => linkLibraries(root, ownFolder)));
    await assertLinked(root);
  });

  test('the links hold when the project is moved', async () => {
    await linkLibraries(root, ownFolder);
    const moved = `${root}-moved`;
    await rename(root, moved);
    root = moved;
    await assertLinked(root);
  });

  test('a link that leads nowhere is made anew, and one that leads somewhere is left alone', async () => {
    await symlink('/gone/libpq.so.5.18', join(root, 'native/lib/libpq.so'));
    await symlink('./libpq.so.5.18', join(root, 'native/lib/libpq.so.5'));
    await linkLibraries(root, ownFolder);
    await assertLinked(root);
    assert.equal(await readlink(join(root, 'native/lib/libpq.so.5')), './libpq.so.5.18');
  });

  test('a package without such a list needs none', async () => {
    await rm(join(root, 'native/pg-symlinks.json'));
    await linkLibraries(root, ownFolder);
    assert.deepEqual(await readdir(join(root, 'native/lib')), ['libpq.so.5.18']);
  });

  test('a folder in which no link can be made is named', async () => {
    await rm(join(root, 'native/lib'), { recursive: true });
    await assert.rejects(
      linkLibraries(root, ownFolder),
      (error) => error instanceof StartError && /Cannot create a link to a library/.test(error.message),
    );
  });

  test('this machine has what it needs', async () => {
    const names = await readdir(await findPostgresBinaries(ownFolder));
    for (const name of ['initdb', 'pg_ctl', 'postgres']) assert.ok(names.includes(name), name);
  });
});
