// Prints the OpenAPI document of the three APIs. The app is put together as for a start, but connects to nothing.
import { createApp } from '../src/app.ts';
import { createOpenApi, routesOf } from '../src/http/openapi/document.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createKeyRing } from '../src/platform/crypto/keys.ts';
import { createDatabase } from '../src/platform/database/database.ts';
import { createLog } from '../src/platform/log.ts';
import { readConfig } from '../src/settings/settings.ts';

const config = readConfig({ HELIOGRAPH_SECRET: 'a secret that opens nothing' });
const log = createLog({ level: 'error', readable: false });
const database = createDatabase({ connection: { url: 'postgres://127.0.0.1:1/none' }, log });
const version = '0';
const keys = createKeyRing(systemClock, () => [{ version: 1, usedFromMs: 0, key: Buffer.alloc(32) }]);
const app = createApp({
  config,
  clock: systemClock,
  database,
  sideDatabase: database,
  keys,
  log,
  version,
  wakeDelivery: () => {},
});

const publicUrl = 'http://127.0.0.1:8080';
const about = { publicUrl, version, tokenUrl: `${publicUrl}/token`, sessionCookie: 'session' };
const document = JSON.stringify(createOpenApi(routesOf(app.routes, 'apis'), about));
process.stdout.write(document, () => process.exit(0));
