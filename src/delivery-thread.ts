// The delivery worker's own thread: started by `main.ts` in role `all`, so that delivery never holds up an answer.
import { parentPort, workerData } from 'node:worker_threads';
import { createDelivery } from './delivery.ts';
import { loadPhoneNumbers } from './messages/phone-number.ts';
import { systemClock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import { createDatabase, type DatabaseOptions } from './platform/database.ts';
import { openKeyRing } from './platform/keys.ts';
import { createLog } from './platform/log.ts';

export interface ThreadData {
  config: Config;
  connection: DatabaseOptions['connection'];
  /** Opens the key ring: a verification's code is derived when its text leaves. */
  secret: string;
  readable: boolean;
}

/** To the thread. */
export type Order = 'wake' | 'stop';
/** From it. */
export type Report = { counted: Record<string, number> } | 'started' | 'stopped';

async function run({ config, connection, secret, readable }: ThreadData): Promise<void> {
  const log = createLog({ level: config.logLevel, readable });
  const database = createDatabase({ connection, log, poolSize: 6 });
  await loadPhoneNumbers();
  const keys = await openKeyRing({ database, clock: systemClock, secret });
  let counted: Record<string, number> = {};
  const delivery = createDelivery({
    config,
    database,
    clock: systemClock,
    keys,
    log,
    onCount(name, by) {
      counted[name] = (counted[name] ?? 0) + by;
    },
  });
  const report = (message: Report) => parentPort?.postMessage(message);
  const flush = setInterval(() => {
    if (Object.keys(counted).length === 0) return;
    report({ counted });
    counted = {};
  }, 500);

  parentPort?.on('message', async (order: Order) => {
    if (order === 'wake') return delivery.wake();
    clearInterval(flush);
    await delivery.stop();
    await database.close();
    report({ counted });
    report('stopped');
    parentPort?.close();
  });
  await delivery.start();
  report('started');
}

await run(workerData as ThreadData);
