// A webhook worker in a process of its own, for tests that kill it.
import { toEmitted } from '../../src/compose/event-records.ts';
import { createEventIds } from '../../src/events/event-id.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createDatabase } from '../../src/platform/database/database.ts';
import { createWebhookGuard } from '../../src/platform/http-out/address-guard.ts';
import { createGuardedClient } from '../../src/platform/http-out/client.ts';
import { createLog } from '../../src/platform/log.ts';
import { createWebhookWorker } from '../../src/webhooks/worker.ts';
import { openTestKeyRing } from './key-ring.ts';

const clock = systemClock;
const log = createLog({ level: 'silent', readable: false });
const database = createDatabase({ connection: JSON.parse(process.env.WORKER_CONNECTION ?? '{}'), log, poolSize: 4 });
const keys = await openTestKeyRing(database, clock);
const ids = createEventIds(keys);
const client = createGuardedClient({ guard: createWebhookGuard('sandbox'), clock, timeoutMs: 30_000 });
const assemble: Parameters<typeof createWebhookWorker>[0]['assemble'] = async (_, events) =>
  events.map((event) => toEmitted(ids, event, { record: {}, reference: null }));
await createWebhookWorker({ database, clock, keys, log, client, assemble }).start();
process.send?.('started');
