import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Altered, chunkBytes, openChunks, sealChunks } from './sealed-chunks.ts';

const key = Buffer.alloc(32, 7);
const stored = chunkBytes + 16;

async function* inBlocks(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function all(blocks: AsyncIterable<Buffer>): Promise<Buffer> {
  const read: Buffer[] = [];
  for await (const block of blocks) read.push(block);
  return Buffer.concat(read);
}

const seal = (plain: Buffer, sizes = [50_000], by = key) => all(sealChunks(by, inBlocks(plain, sizes)));
const open = (sealed: Buffer, sizes = [50_000], by = key) => all(openChunks(by, inBlocks(sealed, sizes)));

describe('chunks of a backup', () => {
  test('come out as they went in, whatever their sizes and however the bytes are cut into blocks', async () => {
    const around = [0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 2 * chunkBytes, 3 * chunkBytes + 5];
    const sizes = fc.array(fc.integer({ min: 1000, max: 200_000 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...around), sizes, sizes, async (length, written, read) => {
        const plain = randomBytes(length);
        const sealed = await seal(plain, written);
        assert.equal(sealed.length, length + 16 * Math.max(1, Math.ceil(length / chunkBytes)));
        assert.ok((await open(sealed, read)).equals(plain), `${length} bytes`);
      }),
      { numRuns: 30 },
    );
  });

  test('show nothing of what is in them, and the same bytes look different in each', async () => {
    const sealed = await seal(Buffer.alloc(2 * chunkBytes, 'secret '));
    assert.equal(sealed.includes('secret'), false);
    assert.notDeepEqual(sealed.subarray(0, 100), sealed.subarray(stored, stored + 100));
  });

  test('are refused when they are damaged in any way', async () => {
    const plain = randomBytes(3 * chunkBytes + 100);
    const sealed = await seal(plain);
    const [first, second, third, last] = [0, 1, 2, 3].map((at) => sealed.subarray(at * stored, (at + 1) * stored));
    const others = await seal(plain, [50_000], Buffer.alloc(32, 8));
    const flipped = Buffer.from(sealed);
    flipped[stored + 7] = (flipped[stored + 7] ?? 0) ^ 1;
    const parts = (...given: (Buffer | undefined)[]) => Buffer.concat(given.map((each) => each ?? Buffer.alloc(0)));
    for (const [what, bytes] of Object.entries({
      'are altered': flipped,
      'change places': parts(second, first, third, last),
      'are left out': parts(first, third, last),
      'come twice': parts(first, second, second, third, last),
      'lack the last one': parts(first, second, third),
      'end in the middle of one': sealed.subarray(0, -1),
      'end in the tag of the first': sealed.subarray(0, 10),
      'are none': Buffer.alloc(0),
      'have more behind them': parts(sealed, Buffer.from('x')),
      'have a whole chunk behind them': parts(sealed, first),
      'have one of another file': parts(first, others.subarray(stored, 2 * stored), third, last),
      'are of another file': others,
    })) {
      await assert.rejects(open(bytes), Altered, what);
    }
  });

  test('are given out one by one: no more than a chunk is held', async () => {
    let read = 0;
    const endless = async function* () {
      for (;;) {
        read++;
        yield Buffer.alloc(chunkBytes);
      }
    };
    const chunks = sealChunks(key, endless());
    for (let each = 0; each < 3; each++) await chunks.next();
    assert.ok(read <= 5, `${read} blocks were read`);
    await chunks.return(undefined);
  });
});
