import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CutOff, createByteReader } from './byte-reader.ts';

async function* inBlocks(bytes: Buffer, sizes: number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function readTable(reader: ReturnType<typeof createByteReader>): Promise<string> {
  const blocks: Buffer[] = [];
  for await (const block of reader.readTable()) blocks.push(Buffer.from(block));
  return Buffer.concat(blocks).toString();
}

/** Rows as Postgres writes them: every backslash is doubled, so that no row is the mark. */
const row = fc.string({ unit: fc.constantFrom('a', '.', '\\\\', '\\n', '\t', 'é') }).map((text) => `${text}\n`);
const table = fc.array(row, { maxLength: 6 }).map((rows) => rows.join(''));
const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 });

test('tables and lines come out as they went in, however the bytes are cut into blocks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(table, { maxLength: 4 }), sizes, async (tables, cut) => {
      const file = `header\n${tables.map((rows) => `${rows}\\.\n`).join('')}end\n`;
      const reader = createByteReader(inBlocks(Buffer.from(file), cut));
      assert.equal((await reader.readLine(100))?.toString(), 'header\n');
      for (const rows of tables) assert.equal(await readTable(reader), rows);
      assert.equal((await reader.readLine(100))?.toString(), 'end\n');
      assert.equal(await reader.isAtEnd(), true);
    }),
  );
});

test('a table without its end is cut off, wherever that is', async () => {
  const whole = 'one\ttwo\n\\\\.\n\\.\n';
  for (let length = 0; length < whole.length; length++) {
    const reader = createByteReader(inBlocks(Buffer.from(whole.slice(0, length)), [3]));
    await assert.rejects(readTable(reader), CutOff, `after ${length} bytes`);
  }
});

test('a line that is too long is not read to its end', async () => {
  let blocks = 0;
  const endless = async function* () {
    for (;;) {
      blocks++;
      yield Buffer.alloc(100, 'a');
    }
  };
  assert.equal(await createByteReader(endless()).readLine(1000), undefined);
  assert.ok(blocks <= 12, `${blocks} blocks were read`);
});
