import { type FileHandle, open, unlink } from 'node:fs/promises';
import { StartError } from '../../platform/errors.ts';

/** New credentials, which are shown nowhere else. */
export interface CredentialsFile {
  readonly path: string;
  add(credential: Record<string, unknown>): void;
  /** Writes them to the disk: before the transaction that makes them commits, so that none is ever lost. */
  write(): Promise<void>;
  /** Closes the file, and removes one that holds nothing. Returns how many credentials it has. */
  close(): Promise<number>;
  /** Removes the credentials of a transaction that was rolled back. */
  clear(): void;
}

/** Only its owner may read it. A file that exists is never overwritten: it may hold credentials. */
export async function createCredentialsFile(path: string): Promise<CredentialsFile> {
  const handle = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException): FileHandle => {
    const exists = error.code === 'EEXIST';
    throw new StartError(
      exists
        ? `The file ${path} exists already. Name a new one for the credentials: nothing has been changed.`
        : `The file ${path} for the credentials cannot be created (${error.code}). Nothing has been changed.`,
    );
  });
  let credentials: Record<string, unknown>[] = [];
  let isWritten = false;
  return {
    path,
    add: (credential) => void credentials.push(credential),
    clear() {
      credentials = [];
    },
    async write() {
      if (credentials.length === 0) return;
      isWritten = true;
      await handle.truncate();
      await handle.write(`${JSON.stringify({ credentials }, null, 2)}\n`, 0);
      await handle.sync();
    },
    async close() {
      await handle.close();
      if (!isWritten || credentials.length === 0) await unlink(path);
      return credentials.length;
    },
  };
}
