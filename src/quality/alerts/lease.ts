import type { Condition } from './alert.ts';

/** A condition that began and is not over. */
export interface OpenAlert {
  id: string;
  key: string;
  sinceMs: number;
  seenAtMs: number;
  /** Null until it has lasted long enough. */
  raisedAtMs: number | null;
}

/** What to do with the rows. */
export interface Course {
  begin: (Condition & { raised: boolean })[];
  /** Still so: `restart` if no node has looked for a while. */
  hold: { id: string; condition: Condition; restart: boolean; raise: boolean }[];
  clear: OpenAlert[];
  /** It was over before it was told. */
  drop: OpenAlert[];
}

/** After such a pause in watching it is unknown whether a condition lasted. */
const unwatchedMs = 60_000;
/** A raised alert is over when its condition has not been seen for so long, so that it is not told again and again. */
const calmMs = 30_000;

/** Compares what is wrong now with what was. Pure: two nodes decide the same. */
export function follow(open: readonly OpenAlert[], conditions: readonly Condition[], nowMs: number): Course {
  const known = new Map(open.map((alert) => [alert.key, alert]));
  const now = new Map(conditions.map((condition) => [condition.key, condition]));
  const course: Course = { begin: [], hold: [], clear: [], drop: [] };
  for (const condition of now.values()) {
    const alert = known.get(condition.key);
    if (alert === undefined) {
      course.begin.push({ ...condition, raised: condition.forMs === 0 });
      continue;
    }
    const restart = alert.raisedAtMs === null && nowMs - alert.seenAtMs > unwatchedMs;
    const lasted = !restart && nowMs - alert.sinceMs >= condition.forMs;
    course.hold.push({ id: alert.id, condition, restart, raise: alert.raisedAtMs === null && lasted });
  }
  for (const alert of open) {
    if (now.has(alert.key)) continue;
    if (alert.raisedAtMs === null) course.drop.push(alert);
    else if (nowMs - alert.seenAtMs >= calmMs) course.clear.push(alert);
  }
  return course;
}
