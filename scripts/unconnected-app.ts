import { createApp } from '../src/app.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createKeyRing } from '../src/platform/crypto/keys.ts';
import { createDatabase } from '../src/platform/database/database.ts';
import { createLog } from '../src/platform/log.ts';
import { readConfig } from '../src/settings/settings.ts';

/** The app as it is put together for a start, but connected to nothing: for what is written from its routes. */
export function createUnconnectedApp() {
  const log = createLog({ level: 'error', readable: false });
  const database = createDatabase({ connection: { url: 'postgres://127.0.0.1:1/none' }, log });
  return createApp({
    config: readConfig({ HELIOGRAPH_SECRET: 'a secret that opens nothing' }),
    clock: systemClock,
    database,
    sideDatabase: database,
    keys: createKeyRing(systemClock, () => [{ version: 1, usedFromMs: 0, key: Buffer.alloc(32) }]),
    log,
    version: '0',
    wakeDelivery: () => {},
  });
}
