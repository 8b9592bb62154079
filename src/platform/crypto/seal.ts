import { createCipheriv, createDecipheriv } from 'node:crypto';
import { randomBytes } from './random.ts';

const tagLength = { authTagLength: 16 };

/** AES-256-GCM. `openSealed` needs the same `context`, so a sealed value is useless in another place. */
export function sealWith(key: Buffer, plain: Buffer, context: string): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv, tagLength).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** Throws for another key, another context or changed bytes. */
export function openSealed(key: Buffer, sealed: Buffer, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), tagLength).setAAD(Buffer.from(context));
  decipher.setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]);
}
