import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Environment } from '../../platform/environment.ts';
import type { Log } from '../../platform/log.ts';
import { createPoller } from '../../platform/work/poller.ts';
import { judgeAll } from '../rules/all.ts';
import { alertBody } from './body.ts';
import { insertCalls } from './call-store.ts';
import { createAlertCaller } from './caller.ts';
import { follow } from './changes.ts';
import { type AlertFacts, readFacts } from './facts.ts';
import { type Alert, listAlerts, lockAlerts, readOpen, writeChanges } from './store.ts';

/** Judges alerts on every node, one node at a time. If it dies, any other continues. */
export interface AlertWatch {
  start(): void;
  stop(): Promise<void>;
  /** Polls all facts once, and reports changes. False if another node does it now. */
  poll(): Promise<boolean>;
  /** The facts of this node's last poll. Undefined before the first one. */
  readonly facts: AlertFacts | undefined;
  /** The raised alerts at that time. */
  readonly open: readonly Alert[];
}

export interface AlertWatchOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
  /** Names this installation in calls. */
  publicUrl: string;
  alertUrl: string | undefined;
  environment: Environment;
}

const pollEveryMs = 5000;
/** Slow facts are read again after this time, or on an explicit poll. */
const slowForMs = 30_000;
/** Maximum number of alerts in the metrics. */
const mostShown = 1000;

export function createAlertWatch(options: AlertWatchOptions): AlertWatch {
  const { database, clock, log, publicUrl, alertUrl } = options;
  const callAll = alertUrl === undefined ? async () => 0 : createAlertCaller({ ...options, url: alertUrl });
  let facts: AlertFacts | undefined;
  let open: Alert[] = [];
  let slowReadAtMs = Number.NEGATIVE_INFINITY;
  const poller = createPoller({
    run: () => poll(false),
    pauseMs: pollEveryMs,
    onFailure: ({ message: reason }) => log.debug({ reason }, 'alerts were not checked; will retry'),
  });

  async function judge(all: boolean): Promise<boolean> {
    const changed = await database.transaction(async (tx) => {
      if (!(await lockAlerts(tx))) return undefined;
      const nowMs = clock.nowMs();
      const withSlow = all || facts === undefined || nowMs - slowReadAtMs >= slowForMs;
      const found = await readFacts(tx, nowMs, withSlow ? undefined : facts);
      const conditions = judgeAll(found);
      const { raised, cleared } = await writeChanges(tx, follow(await readOpen(tx), conditions, nowMs), clock);
      if (alertUrl !== undefined) {
        const calls = [
          ...raised.map((alert) => [alert, 'raised'] as const),
          ...cleared.map((alert) => [alert, 'cleared'] as const),
        ];
        const withBodies = calls.map(([alert, event]) => {
          return { alertId: alert.id, event, body: alertBody(alert, event, publicUrl) };
        });
        await insertCalls(tx, withBodies, nowMs);
      }
      facts = found;
      if (withSlow) slowReadAtMs = nowMs;
      return { raised, cleared };
    });
    if (changed === undefined) return false;
    for (const { kind, summary } of changed.raised) log.warn({ alert: kind }, summary);
    for (const { kind, summary } of changed.cleared) log.info({ alert: kind }, `over: ${summary}`);
    return true;
  }

  async function poll(all: boolean): Promise<boolean> {
    const judged = await judge(all);
    open = await listAlerts(database, { state: 'open', limit: mostShown, after: undefined });
    await callAll();
    return judged;
  }

  return {
    start: () => poller.start(),
    stop: poller.stop,
    poll: () => poll(true),
    get facts() {
      return facts;
    },
    get open() {
      return open;
    },
  };
}
