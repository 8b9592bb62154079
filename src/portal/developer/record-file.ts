import { Readable } from 'node:stream';
import type { PageRequest } from '../../http/list-page.ts';
import { type Call, type Reply, requireDeveloper } from '../../http/route.ts';
import { ApiError } from '../../platform/errors.ts';
import { toCsvLines } from '../../quality/csv.ts';

type Cells = (string | number | null)[];

export interface FilePage {
  rows: Cells[];
  /** The id to continue after; undefined at the end. */
  next: string | undefined;
}

export interface RecordFile {
  /** The file's name without its extension. */
  name: string;
  titles: readonly string[];
  readPage: (page: PageRequest) => Promise<FilePage>;
}

export const mostFileRows = 10_000;
const pageRows = 200;
/** Maximum per account and node: a file is read outside of the bulkhead. */
const mostAtOnce = 2;
const longestMs = 5 * 60_000;

export type SendFile = (call: Call, file: RecordFile) => Promise<Reply>;

/** Sends records as a CSV file, page by page: the next page is read when the caller has taken the last one. */
export function createRecordFiles(): SendFile {
  const open = new Map<string, number>();

  function takeSlot(accountId: string): () => void {
    const taken = open.get(accountId) ?? 0;
    if (taken >= mostAtOnce) throw tooManyFiles();
    open.set(accountId, taken + 1);
    return () => {
      const left = (open.get(accountId) ?? 1) - 1;
      if (left === 0) open.delete(accountId);
      else open.set(accountId, left);
    };
  }

  return async (call, file) => {
    const leave = takeSlot(requireDeveloper(call).accountId);
    try {
      // Reads the first page before the answer begins, so that an error can still be answered.
      const first = await file.readPage({ after: undefined, limit: pageRows });
      const data = Readable.from(pieces(file, first), { highWaterMark: 1 });
      const stopWatching = call.onCredentialEnd(() => data.destroy());
      const timer = setTimeout(() => data.destroy(), longestMs).unref();
      data.once('close', () => {
        clearTimeout(timer);
        stopWatching();
        leave();
      });
      const headers = { 'content-disposition': `attachment; filename="${file.name}.csv"` };
      return { status: 200, content: { type: 'text/csv; charset=utf-8', data, headers } };
    } catch (error) {
      leave();
      throw error;
    }
  };
}

async function* pieces({ titles, readPage }: RecordFile, first: FilePage): AsyncGenerator<string> {
  yield toCsvLines([titles, ...first.rows]);
  let written = first.rows.length;
  for (let { next } = first; next !== undefined && written < mostFileRows; ) {
    const page = await readPage({ after: next, limit: Math.min(pageRows, mostFileRows - written) });
    if (page.rows.length > 0) yield toCsvLines(page.rows);
    written += page.rows.length;
    next = page.next;
  }
}

function tooManyFiles(): ApiError {
  return new ApiError(
    'TOO_MANY_STREAMS',
    `Your account is downloading ${mostAtOnce} files, the maximum. Try again when one has finished.`,
  );
}
