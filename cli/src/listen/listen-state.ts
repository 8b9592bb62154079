import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Environment } from '../process/environment.ts';
import { readPrivateFile, whileLocked, writePrivateFile } from '../profile/private-file.ts';

/** The last event of one feed that was forwarded to one address, kept in its own file. */
export interface ListenPosition {
  read(): string | undefined;
  write(cursor: string): void;
}

export function openPosition({ stateFolder }: Environment, ...names: string[]): ListenPosition {
  const name = createHash('sha256').update(names.join('\n')).digest('hex').slice(0, 32);
  const path = join(stateFolder, 'listen', `${name}.json`);
  return {
    read: () => {
      const { cursor } = (readPrivateFile(path) ?? {}) as { cursor?: unknown };
      return typeof cursor === 'string' ? cursor : undefined;
    },
    write: (cursor) => writePrivateFile(path, { cursor }),
  };
}

/** The secret of this machine: the same each time, so that a developer sets it once. */
export function requireSecret({ stateFolder }: Environment): Promise<string> {
  const path = join(stateFolder, 'listen-secret.json');
  return whileLocked(path, () => {
    const { secret: kept } = (readPrivateFile(path) ?? {}) as { secret?: unknown };
    if (typeof kept === 'string' && /^whsec_[A-Za-z0-9+/=]{32,}$/.test(kept)) return kept;
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    writePrivateFile(path, { secret });
    return secret;
  });
}
