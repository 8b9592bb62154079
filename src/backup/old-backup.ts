import { createHmac, type Hmac } from 'node:crypto';
import { stretchSecret } from '../platform/crypto/key-ring-store.ts';
import { StartError } from '../platform/errors.ts';
import type { BackupEnd, BackupHeader, Proof } from './backup-file.ts';
import { findKey, sameHex } from './backup-key.ts';
import { howToGive, notABackup, type OpenOptions } from './open-backup.ts';

/**
 * The first format: a gzip file that anyone can read. Its last line has a seal of all that comes before it, made with the
 * master secret: a stranger who can write where backups are kept could put an operator into one, but cannot seal it.
 */
interface OldHeader extends BackupHeader {
  salt: string;
  secret_check: string;
}

type OldEnd = BackupEnd & { seal: string };

export function createOldProof({ path, secrets }: OpenOptions): Proof {
  let seal: Hmac | undefined;
  return {
    async begin(line, header) {
      const { salt, secret_check: check } = header as Partial<OldHeader>;
      if (typeof salt !== 'string' || typeof check !== 'string') throw notABackup(path);
      const found = await findKey(secrets, check, (secret) => createOldSeal(secret, Buffer.from(salt, 'hex')));
      if (found === undefined)
        throw new StartError(
          [`HELIOGRAPH_SECRET is not the secret that ${path} was made with.`, ...howToGive].join('\n'),
        );
      seal = found.seal.update(line);
    },
    take: (bytes) => void seal?.update(bytes),
    finish(end) {
      const { seal: written } = end as Partial<OldEnd>;
      return typeof written === 'string' && sameHex(written, seal?.digest('hex') ?? '') ? written : undefined;
    },
  };
}

export async function createOldSeal(secret: string, salt: Buffer): Promise<{ seal: Hmac; check: string }> {
  const key = await stretchSecret(secret, salt);
  const keyFor = (purpose: string) => createHmac('sha256', key).update(purpose).digest();
  return { seal: createHmac('sha256', keyFor('backup')), check: keyFor('backup-check').toString('hex') };
}
