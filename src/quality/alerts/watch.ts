import type { Clock } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Environment } from '../../platform/environment.ts';
import type { Log } from '../../platform/log.ts';
import { createPoller } from '../../platform/work/poller.ts';
import { alertRules } from '../rules/all.ts';
import { alertKinds } from './alert.ts';
import { alertBody } from './body.ts';
import { insertCalls } from './call-store.ts';
import { createAlertCaller } from './caller.ts';
import { type AlertFacts, readFacts } from './facts.ts';
import { follow } from './lease.ts';
import { type Alert, listAlerts, lockAlerts, readOpen, writeCourse } from './store.ts';

/** Follows what is wrong, on every node: one at a time does it, and any other goes on when it dies. */
export interface AlertWatch {
  start(): void;
  stop(): Promise<void>;
  /** Looks at all facts once, and tells what has changed. False if another node does it now. */
  look(): Promise<boolean>;
  /** What the last look of this node has seen. Undefined before the first one. */
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

const lookEveryMs = 5000;
/** Slow facts are read again after this time, or when someone asks for a look. */
const slowForMs = 30_000;
/** For metrics. */
const mostShown = 1000;

export function createAlertWatch(options: AlertWatchOptions): AlertWatch {
  const { database, clock, log, publicUrl, alertUrl } = options;
  const callAll = alertUrl === undefined ? async () => 0 : createAlertCaller({ ...options, url: alertUrl });
  let facts: AlertFacts | undefined;
  let open: Alert[] = [];
  let slowReadAtMs = Number.NEGATIVE_INFINITY;
  const poller = createPoller({
    run: () => look(false),
    pauseMs: lookEveryMs,
    onFailure: ({ message: reason }) => log.debug({ reason }, 'alerts were not checked; will retry'),
  });

  async function judge(all: boolean): Promise<boolean> {
    const told = await database.transaction(async (tx) => {
      if (!(await lockAlerts(tx))) return undefined;
      const nowMs = clock.nowMs();
      const withSlow = all || facts === undefined || nowMs - slowReadAtMs >= slowForMs;
      const found = await readFacts(tx, nowMs, withSlow ? undefined : facts);
      const conditions = alertKinds.flatMap((kind) => alertRules[kind](found));
      const { raised, cleared } = await writeCourse(tx, follow(await readOpen(tx), conditions, nowMs), clock);
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
    if (told === undefined) return false;
    for (const { kind, summary } of told.raised) log.warn({ alert: kind }, summary);
    for (const { kind, summary } of told.cleared) log.info({ alert: kind }, `over: ${summary}`);
    return true;
  }

  async function look(all: boolean): Promise<boolean> {
    const judged = await judge(all);
    open = await listAlerts(database, { state: 'open', limit: mostShown, after: undefined });
    await callAll();
    return judged;
  }

  return {
    start: () => poller.start(),
    stop: poller.stop,
    look: () => look(true),
    get facts() {
      return facts;
    },
    get open() {
      return open;
    },
  };
}
