import { toEmitted } from '../../src/compose/event-records.ts';
import type { AssembleEvents } from '../../src/events/event.ts';
import { createEventIds } from '../../src/events/event-id.ts';
import { createListeners } from '../../src/events/listeners.ts';
import { beginDay } from '../../src/events/position.ts';
import { toTimestamp } from '../../src/platform/clock.ts';
import { createWebhookGuard } from '../../src/platform/http-out/address-guard.ts';
import { createGuardedClient, type GuardedClient } from '../../src/platform/http-out/client.ts';
import { newId, uuidOf } from '../../src/platform/ids.ts';
import { createWebhookDeliveries } from '../../src/webhooks/deliveries.ts';
import type { LeaseState } from '../../src/webhooks/lease.ts';
import { createWebhookService, type WebhookService } from '../../src/webhooks/service.ts';
import { createWebhookWorker, type WebhookWorker } from '../../src/webhooks/worker.ts';
import { createTestClock, type TestClock } from './clock.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { openTestKeyRing } from './key-ring.ts';
import { createTestLog } from './log.ts';

export interface WorldWorker extends WebhookWorker {
  /** When each call began, by the machine's clock. */
  begun: number[];
  /** The states that the lease of each webhook has entered. */
  leases: Map<string, LeaseState[]>;
}

/** Webhooks and their workers on a real database, without the rest of the service. */
export interface WebhookWorld {
  db: TestDatabase;
  clock: TestClock;
  service: WebhookService;
  deliveries: ReturnType<typeof createWebhookDeliveries>;
  /** A new application with one webhook. */
  create(url: string, account?: string): Promise<{ applicationId: string; id: string }>;
  addWebhook(applicationId: string, url: string): Promise<string>;
  addEvents(applicationId: string, count: number): Promise<void>;
  startWorker(options?: { timeoutMs?: number; room?: { claims: number; calls: number } }): Promise<WorldWorker>;
  /** The deliveries of a webhook, oldest first. */
  readDeliveries(id: string): Promise<DeliveryState[]>;
  close(): Promise<void>;
}

export interface DeliveryState {
  position: number;
  status: number;
  attemptCount: number;
  nextAttemptAtMs: number | null;
}

export async function createWebhookWorld(db?: TestDatabase, clock = createTestClock()): Promise<WebhookWorld> {
  const own = db ?? (await createTestDatabase());
  const { database } = own;
  const keys = await openTestKeyRing(database, clock);
  const ids = createEventIds(keys);
  const { log } = createTestLog();
  const workers: WebhookWorker[] = [];
  const createClient = (timeoutMs: number): GuardedClient =>
    createGuardedClient({ guard: createWebhookGuard('sandbox'), clock, timeoutMs });
  const service = createWebhookService({
    database,
    clock,
    keys,
    guard: createWebhookGuard('sandbox'),
    client: createClient(30_000),
    listeners: createListeners({ database, clock }),
    isApplication: async () => true,
  });

  const assemble: AssembleEvents = async (_, events) =>
    events.map((event) => toEmitted(ids, event, { record: {}, reference: null }));

  async function addWebhook(applicationId: string, url: string): Promise<string> {
    return (await service.create(applicationId, { url, types: [], description: null })).id;
  }

  return {
    db: own,
    clock,
    service,
    deliveries: createWebhookDeliveries({ database, clock, ids, eventDays: 7, assemble }),
    async create(url, account = 'acc_test') {
      const applicationId = newId('app', clock);
      const now = toTimestamp(clock.nowMs());
      await database.query(
        `insert into account (id, name, created_at) values ($1, 'a@example.com', $2) on conflict do nothing`,
        [account, now],
      );
      await database.query(
        `insert into application (id, account_id, name, created_at, updated_at) values ($1, $2, 'ACME', $3, $3)`,
        [applicationId, account, now],
      );
      return { applicationId, id: await addWebhook(applicationId, url) };
    },
    addWebhook,
    async addEvents(applicationId, count) {
      await beginDay(database, clock.nowMs());
      await database.query(
        `insert into event (application_id, subject, time, sequence, type, api)
         select $1, gen_random_uuid(), $2, 1, 0, 0 from generate_series(1, $3)`,
        [uuidOf(applicationId), toTimestamp(clock.nowMs()), count],
      );
      for (const worker of workers) worker.wake();
    },
    async startWorker({ timeoutMs = 30_000, room } = {}) {
      const begun: number[] = [];
      const leases = new Map<string, LeaseState[]>();
      const client = createClient(timeoutMs);
      const worker = createWebhookWorker({
        database: own.another(),
        clock,
        keys,
        log,
        client: {
          ...client,
          call(call) {
            begun.push(performance.now());
            return client.call(call);
          },
        },
        ...(room !== undefined && { room }),
        onLease: (state, id) => leases.set(id, [...(leases.get(id) ?? []), state]),
        assemble,
      });
      workers.push(worker);
      await worker.start();
      return { ...worker, begun, leases };
    },
    async readDeliveries(id) {
      const { rows } = await database.query<DeliveryState>(
        `select position, status, attempt_count as "attemptCount", next_attempt_at as "nextAttemptAtMs"
         from webhook_delivery where webhook_id = $1 order by position`,
        [uuidOf(id)],
      );
      return rows;
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      if (db === undefined) await own.drop();
    },
  };
}
