import { statuses } from '../../smpp/pdu.ts';

/** Writes what a carrier delivered, many with one commit. */
export interface BatchedWrite<Item> {
  /** Resolves to the command_status of the answer, once the item is on disk. */
  add(item: Item): Promise<number>;
  /** A write that fails is not tried again. */
  stop(): void;
}

interface Waiting<Item> {
  item: Item;
  resolve: (status: number) => void;
  reject: (error: Error) => void;
}

/** Half a minute in all. */
const mostTries = 120;
const tryAgainMs = 250;

export function createBatchedWrite<Item>(
  write: (items: Item[]) => Promise<void>,
  mostPerWrite: number,
): BatchedWrite<Item> {
  let waiting: Waiting<Item>[] = [];
  let isWriting = false;
  let isStopped = false;

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, mostPerWrite);
      waiting = waiting.slice(mostPerWrite);
      try {
        await writeAgain(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve(statuses.ok);
      } catch (error) {
        // The session answers nothing, and the carrier sends them again.
        for (const { reject } of batch) reject(error as Error);
      }
    }
    isWriting = false;
  }

  /** A database that restarts must not cost the connection. */
  async function writeAgain(items: Item[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await write(items);
      } catch (error) {
        if (tries === mostTries || isStopped) throw error;
        await new Promise((resolve) => setTimeout(resolve, tryAgainMs));
      }
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        // What came in the same turn of the event loop shares a commit.
        if (isWriting) return;
        isWriting = true;
        setImmediate(() => void writeAll());
      }),
    stop() {
      isStopped = true;
    },
  };
}
