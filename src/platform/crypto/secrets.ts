import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** Room for a text of this many characters, each at most three bytes long. */
const usualLength = 512;
const roomBytes = 3 * usualLength;
const blockBytes = 64;
const digestBytes = 32;

/** A key's two blocks (RFC 2104), each with room behind it for what is hashed with it. */
interface KeyBlocks {
  inner: Buffer;
  outer: Buffer;
}

const blocksOfKeys = new WeakMap<Buffer, KeyBlocks>();

/**
 * HMAC-SHA-256. We store credentials and payloads only as this hash, so a stolen database opens nothing. Usual texts take
 * two plain hashes: `createHmac` creates objects outside the heap, and takes twice as long in a busy process.
 */
export function keyedHash(key: Buffer, text: string): Buffer {
  if (text.length > usualLength || key.length > blockBytes) return createHmac('sha256', key).update(text).digest();
  const blocks = blocksOf(key);
  return finish(blocks, blocks.inner.write(text, blockBytes));
}

/** HMAC-SHA-256 of a text followed by bytes. */
export function keyedHashOfBytes(key: Buffer, text: string, bytes: Buffer): Buffer {
  if (3 * text.length + bytes.length > roomBytes || key.length > blockBytes) {
    return createHmac('sha256', key).update(text).update(bytes).digest();
  }
  const blocks = blocksOf(key);
  const length = blocks.inner.write(text, blockBytes);
  return finish(blocks, length + bytes.copy(blocks.inner, blockBytes + length));
}

/** Hashes the inner block with the first `length` bytes behind it. */
function finish({ inner, outer }: KeyBlocks, length: number): Buffer {
  // As text, because a new Buffer for a result costs more than the hash.
  outer.write(hash('sha256', inner.subarray(0, blockBytes + length), 'binary'), blockBytes, 'latin1');
  return Buffer.from(hash('sha256', outer, 'binary'), 'latin1');
}

function blocksOf(key: Buffer): KeyBlocks {
  let blocks = blocksOfKeys.get(key);
  if (blocks === undefined) {
    blocks = { inner: Buffer.alloc(blockBytes + roomBytes, 0), outer: Buffer.alloc(blockBytes + digestBytes, 0) };
    for (let at = 0; at < blockBytes; at++) {
      blocks.inner[at] = (key[at] ?? 0) ^ 0x36;
      blocks.outer[at] = (key[at] ?? 0) ^ 0x5c;
    }
    blocksOfKeys.set(key, blocks);
  }
  return blocks;
}

/** Compares in constant time: the time does not show where two values differ. */
export function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Compares two texts of any length. Hashing them under the caller's key hides their lengths too. */
export function sameText(key: Buffer, a: string, b: string): boolean {
  return timingSafeEqual(keyedHash(key, a), keyedHash(key, b));
}

/** Distinguishes secrets without keeping them: 128 bits of a plain hash. It proves nothing. */
export function fingerprint(secret: string): string {
  return hash('sha256', secret, 'base64url').slice(0, 22);
}
