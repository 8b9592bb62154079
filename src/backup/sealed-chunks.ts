import { createCipheriv, createDecipheriv } from 'node:crypto';

export const cipherName = 'aes-256-gcm';
/** Size of a chunk: also the most that a reader holds before it has checked it. */
export const chunkBytes = 65_536;
const tagBytes = 16;
const tagLength = { authTagLength: tagBytes };

/** A chunk was altered, moved or removed. */
export class Altered extends Error {}

/**
 * Encrypts in chunks. The number of a chunk, and whether it is the last, are its nonce: chunks cannot be exchanged,
 * repeated or left out, also not at the end. The key must belong to this file alone.
 */
export async function* sealChunks(key: Buffer, plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let number = 0;
  for await (const { bytes, isLast } of inPieces(plain, chunkBytes)) {
    const cipher = createCipheriv(cipherName, key, nonceOf(number++, isLast), tagLength);
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Yields the decrypted chunks, each after its check. Throws `Altered`. */
export async function* openChunks(key: Buffer, sealed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let number = 0;
  for await (const { bytes, isLast } of inPieces(sealed, chunkBytes + tagBytes)) {
    const end = bytes.length - tagBytes;
    if (end < 0) throw new Altered();
    const decipher = createDecipheriv(cipherName, key, nonceOf(number++, isLast), tagLength);
    decipher.setAuthTag(bytes.subarray(end));
    yield opened(() => Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]));
  }
}

function opened(decrypt: () => Buffer): Buffer {
  try {
    return decrypt();
  } catch {
    throw new Altered();
  }
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(number, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

/** Pieces of this size, and a last one, which may be shorter and is empty only if there is nothing at all. */
async function* inPieces(
  blocks: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<{ bytes: Buffer; isLast: boolean }> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const block of blocks) {
    held.push(block);
    length += block.length;
    if (length <= size) continue;
    let bytes = Buffer.concat(held);
    // Only the next byte shows whether a full chunk is the last.
    for (; bytes.length > size; bytes = bytes.subarray(size)) yield { bytes: bytes.subarray(0, size), isLast: false };
    held = [bytes];
    length = bytes.length;
  }
  yield { bytes: Buffer.concat(held), isLast: true };
}
