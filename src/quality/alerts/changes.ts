// Tests: test/contract/operator-alerts.test.ts
import type { Condition } from './alert.ts';

/** A condition that has not ended. */
export interface OpenAlert {
  id: string;
  key: string;
  sinceMs: number;
  seenAtMs: number;
  /** Null until it has lasted long enough. */
  raisedAtMs: number | null;
}

/** The changes to the rows of alerts. */
export interface AlertChanges {
  begin: (Condition & { raised: boolean })[];
  /** The condition still holds: `restart` if no node has polled for a while. */
  hold: { id: string; condition: Condition; restart: boolean; raise: boolean }[];
  clear: OpenAlert[];
  /** The condition ended before the alert was raised. */
  drop: OpenAlert[];
}

/** After a longer pause between polls it is unknown whether a condition lasted. */
const unwatchedMs = 60_000;
/** A raised alert is over when its condition has been absent for this time, so that it does not flap. */
const calmMs = 30_000;

/** Compares the conditions of now with the open alerts. Pure: two nodes decide the same. */
export function follow(open: readonly OpenAlert[], conditions: readonly Condition[], nowMs: number): AlertChanges {
  const known = new Map(open.map((alert) => [alert.key, alert]));
  const now = new Map(conditions.map((condition) => [condition.key, condition]));
  const changes: AlertChanges = { begin: [], hold: [], clear: [], drop: [] };
  for (const condition of now.values()) {
    const alert = known.get(condition.key);
    if (alert === undefined) {
      changes.begin.push({ ...condition, raised: condition.forMs === 0 });
      continue;
    }
    const restart = alert.raisedAtMs === null && nowMs - alert.seenAtMs > unwatchedMs;
    const lasted = !restart && nowMs - alert.sinceMs >= condition.forMs;
    changes.hold.push({ id: alert.id, condition, restart, raise: alert.raisedAtMs === null && lasted });
  }
  for (const alert of open) {
    if (now.has(alert.key)) continue;
    if (alert.raisedAtMs === null) changes.drop.push(alert);
    else if (nowMs - alert.seenAtMs >= calmMs) changes.clear.push(alert);
  }
  return changes;
}
