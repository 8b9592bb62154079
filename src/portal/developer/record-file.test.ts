import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import type { PageRequest } from '../../http/list-page.ts';
import type { Call } from '../../http/route.ts';
import { createRecordFiles, mostFileRows, type RecordFile } from './record-file.ts';

/** The parts of a call that the file needs; `end` ends its credential. */
function caller(accountId = 'acc_1'): { call: Call; end: () => void } {
  let act = () => {};
  const call = {
    caller: { kind: 'developer', accountId },
    onCredentialEnd(given: () => void) {
      act = given;
      return () => {
        act = () => {};
      };
    },
  } as unknown as Call;
  return { call, end: () => act() };
}

/** A list of `count` rows; `pages` counts the pages that were read. */
function fileOf(count: number) {
  const read = { pages: 0 };
  const readPage = async ({ after, limit }: PageRequest) => {
    read.pages++;
    const first = Number(after ?? 0);
    const size = Math.min(limit, count - first);
    const rows = Array.from({ length: size }, (_, index) => [first + index]);
    return { rows, next: first + size < count ? String(first + size) : undefined };
  };
  const file: RecordFile = { name: 'numbers', titles: ['number'], readPage };
  return { file, read };
}

async function open(send: ReturnType<typeof createRecordFiles>, call: Call, file: RecordFile): Promise<Readable> {
  const { content } = await send(call, file);
  return content?.data as Readable;
}

async function textOf(data: Readable): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of data) pieces.push(String(piece));
  return pieces.join('');
}

describe('a file of records', () => {
  test('has every row once, up to the maximum', async () => {
    const send = createRecordFiles();
    assert.equal(await textOf(await open(send, caller().call, fileOf(0).file)), 'number\r\n');
    const lines = (await textOf(await open(send, caller().call, fileOf(450).file))).split('\r\n');
    assert.deepEqual(lines, ['number', ...Array.from({ length: 450 }, (_, n) => String(n)), '']);
    const most = (await textOf(await open(send, caller().call, fileOf(mostFileRows + 1).file))).split('\r\n');
    assert.equal(most.length, mostFileRows + 2);
  });

  test('is read page by page as the caller takes it', async () => {
    const { file, read } = fileOf(mostFileRows);
    const data = await open(createRecordFiles(), caller().call, file);
    for await (const _ of data) break;
    assert.ok(read.pages <= 4, `${read.pages} pages were read for one`);
  });

  test('allows two downloads at a time for an account, however earlier ones ended', async () => {
    const send = createRecordFiles();
    const full = () => assert.rejects(send(caller().call, fileOf(1).file), { code: 'TOO_MANY_STREAMS' });
    const { call, end } = caller();
    const first = await open(send, call, fileOf(1000).file);
    const second = await open(send, caller().call, fileOf(1000).file);
    await full();
    assert.match(await textOf(await open(send, caller('acc_2').call, fileOf(1).file)), /^number/);
    const closed = new Promise((done) => first.once('close', done));
    end();
    await closed;
    assert.ok(first.destroyed, 'ends with the credential');
    await textOf(second);
    const broken = { ...fileOf(1).file, readPage: () => Promise.reject(new Error('no database')) };
    for (let i = 0; i < 3; i++) await assert.rejects(send(caller().call, broken), /no database/);
    await open(send, caller().call, fileOf(1).file);
    await open(send, caller().call, fileOf(1).file);
    await full();
  });

  test('is aborted when a later page cannot be read: an incomplete file must not seem complete', async () => {
    const { file } = fileOf(1000);
    const readPage = (page: PageRequest) =>
      page.after === undefined ? file.readPage(page) : Promise.reject(new Error('no database'));
    await assert.rejects(textOf(await open(createRecordFiles(), caller().call, { ...file, readPage })), /no database/);
  });
});
