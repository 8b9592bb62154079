import { chmod, link, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StartError } from '../errors.ts';
import { randomBase62 } from './random.ts';

/**
 * Reads a file that only its owner may read, or creates it. The text is written to a temporary file, flushed, then
 * linked: concurrent starts agree on one text, and a crash leaves no empty file.
 */
export async function readOrMakePrivateFile(path: string, make: () => string): Promise<string> {
  if ((await readText(path)) === undefined) await makeFile(path, make());
  const text = (await readText(path)) ?? '';
  if (text === '') {
    throw new StartError(
      `${path} is empty. Restore its content. If the installation has no data yet, delete its folder instead.`,
    );
  }
  await chmod(path, 0o600);
  return text;
}

async function makeFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.unfinished-${randomBase62(8)}`;
  const file = await open(unfinished, 'wx', 0o600);
  try {
    await file.writeFile(`${text}\n`);
    await file.sync();
    await link(unfinished, path);
    await syncFolder(dirname(path));
  } catch (error) {
    // Another process was first: use its file.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await file.close();
    await rm(unfinished, { force: true });
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Without this a power failure may lose the file's name. Windows cannot sync a folder. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}
