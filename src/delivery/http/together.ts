import { unavailable } from '../../platform/errors.ts';

export interface TogetherOptions<Item, Source> {
  /** Items of sources with the same key share a write. */
  keyOf: (source: Source) => string;
  mostWaiting: number;
  mostPerWrite: number;
  write: (source: Source, items: Item[]) => Promise<void>;
}

interface Waiting<Item, Source> {
  source: Source;
  items: Item[];
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * Writes what several callers bring with one commit: while a write is under way, the next callers gather for the next one.
 * Resolves when a caller's items are on disk. Refuses (503) when too many wait.
 */
export function createTogether<Item, Source>({
  keyOf,
  mostWaiting,
  mostPerWrite,
  write,
}: TogetherOptions<Item, Source>) {
  const queues = new Map<string, Waiting<Item, Source>[]>();

  async function work(key: string): Promise<void> {
    for (let batch = takeBatch(key); batch.length > 0; batch = takeBatch(key)) {
      const [first] = batch;
      if (first === undefined) break;
      try {
        await write(
          first.source,
          batch.flatMap(({ items }) => items),
        );
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error as Error);
      }
    }
    queues.delete(key);
  }

  function takeBatch(key: string): Waiting<Item, Source>[] {
    const queue = queues.get(key) ?? [];
    let items = 0;
    const end = queue.findIndex((each) => {
      items += each.items.length;
      return items > mostPerWrite;
    });
    return queue.splice(0, end === -1 ? queue.length : Math.max(1, end));
  }

  return (source: Source, items: Item[]): Promise<void> => {
    const key = keyOf(source);
    const queue = queues.get(key);
    const waiting = (queue ?? []).reduce((sum, each) => sum + each.items.length, 0);
    if (waiting + items.length > mostWaiting)
      return Promise.reject(unavailable('Too many callbacks wait for the database. Send this one again.', 5));
    return new Promise((resolve, reject) => {
      const each = { source, items, resolve, reject };
      if (queue !== undefined) {
        queue.push(each);
        return;
      }
      queues.set(key, [each]);
      // Callbacks of the same turn of the event loop share a commit.
      setImmediate(() => void work(key));
    });
  };
}
