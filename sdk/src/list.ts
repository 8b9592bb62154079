import type { CallOptions, Transport } from './transport.ts';

/** One page of a list, as the service returns it. */
export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}

/** A list that loads its pages during the loop: `for await (const item of list)`. Or take it page by page. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #readPage: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(readPage: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#readPage = readPage;
  }

  /** One page: the first, or the one after a `next_cursor`. */
  page(cursor?: string): Promise<Page<Item>> {
    return this.#readPage(cursor);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let cursor: string | undefined;
    do {
      const { data, next_cursor: next } = await this.#readPage(cursor);
      yield* data;
      cursor = next ?? undefined;
    } while (cursor !== undefined);
  }
}

/** The list at a path, with 100 items per page unless the filters set a limit. */
export function listAt<Item>(transport: Transport, path: string, filters: object, { signal }: CallOptions): List<Item> {
  return new List((cursor) =>
    transport.call<Page<Item>>({ method: 'GET', path, query: { limit: 100, ...filters, cursor }, signal }),
  );
}
