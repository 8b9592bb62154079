import type { Database, Statement, Tx } from '../../../src/platform/database/database.ts';
import { createStartBatch, type StartBatchOptions } from '../../../src/verify/start/batch.ts';
import type { StartAnswer, StartItem } from '../../../src/verify/start/item.ts';

/** A real start, which stops before certain statements until it is released. */
export interface SteppedStart {
  /** Resolves when it stands before its first statement. */
  arrive(): Promise<void>;
  /** Runs it to the next stop, or to its end. */
  goOn(): Promise<void>;
  /** The statement before which it stands; undefined when it is over. */
  standsBefore(): string | undefined;
  /** What came of it. */
  outcome(): { answer?: StartAnswer; error?: Error };
  /** Lets it run to its end. */
  finish(): Promise<void>;
}

const stops = [
  'start-free-verifications',
  'lock-verification-names',
  'lock-verifications',
  'count-verification-starts',
];
const count = 'count-verification-starts';

/** Each has a batch of its own, as if each came to another node. */
export function beginStart(database: Database, options: StartBatchOptions, item: StartItem): SteppedStart {
  let release: (() => void) | undefined;
  let stopped: string | undefined;
  let isFree = false;
  let hasCounted = false;
  let outcome: ReturnType<SteppedStart['outcome']> = {};
  let isOver = false;
  let onStop = () => {};

  /** Everything behind the counts decides or writes: it stops there too. */
  async function stopBefore(statement: Statement | string): Promise<void> {
    const name = typeof statement === 'string' ? statement : statement.name;
    const stopsHere = stops.includes(name) || hasCounted;
    hasCounted = name === count;
    if (!stopsHere || isFree) return;
    await new Promise<void>((resolve) => {
      stopped = name;
      release = resolve;
      onStop();
    });
  }

  const stepped = (tx: Tx): Tx => ({
    async query(statement, values) {
      await stopBefore(statement);
      return tx.query(statement, values);
    },
  });
  const behind: Database = {
    ...database,
    ...stepped(database),
    transaction: (work) => database.transaction((tx) => work(stepped(tx))),
  };
  const submitted = createStartBatch(behind, options)
    .submit(item)
    .then((answer) => {
      if (answer instanceof Error) throw answer;
      outcome = { answer };
    })
    .catch((error: Error) => {
      outcome = { error };
    })
    .finally(() => {
      isOver = true;
      onStop();
    });
  /** It stands, or it is over. */
  const untilStop = () =>
    new Promise<void>((resolve) => {
      onStop = resolve;
      if (stopped !== undefined || isOver) resolve();
    });

  const letGo = () => {
    const go = release;
    [release, stopped] = [undefined, undefined];
    go?.();
  };
  return {
    arrive: untilStop,
    async goOn() {
      await untilStop();
      letGo();
      await untilStop();
    },
    standsBefore: () => stopped,
    outcome: () => outcome,
    async finish() {
      isFree = true;
      letGo();
      await submitted;
    },
  };
}
