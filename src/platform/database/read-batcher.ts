/** A read that waits for its query. */
interface WaitingRead<Key, Value> {
  key: Key;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
}

/** Two, so that one slow query delays only its own readers. */
const mostQueries = 2;
const mostKeys = 500;

/**
 * Reads by key that arrive together share one query, which costs Node hardly more than a single read. The query starts
 * after each of its reads, so a read sees earlier writes. `read` returns one value per key, in order.
 */
export function createReadBatcher<Key, Value>(read: (keys: Key[]) => Promise<Value[]>): (key: Key) => Promise<Value> {
  const waiting: WaitingRead<Key, Value>[] = [];
  let queries = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || queries >= mostQueries) return;
    scheduled = true;
    setImmediate(() => void flush());
  }

  async function flush(): Promise<void> {
    scheduled = false;
    const batch = waiting.splice(0, mostKeys);
    queries++;
    try {
      const values = await read(batch.map(({ key }) => key));
      for (const [index, { resolve }] of batch.entries()) resolve(values[index] as Value);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    queries--;
    if (waiting.length > 0) schedule();
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      schedule();
    });
}
