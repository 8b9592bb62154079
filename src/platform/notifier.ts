import type { Database } from './database.ts';

/** Tells other nodes, by NOTIFY, that there is something to look at. */
export interface Notifier {
  notify(): void;
}

export interface NotifierOptions {
  database: Database;
  channel: string;
  /** At most once in this time: NOTIFY takes a lock at its commit that all others wait for. */
  everyMs?: number;
}

export function createNotifier({ database, channel, everyMs = 50 }: NotifierOptions): Notifier {
  let resting = false;
  let again = false;

  function notify(): void {
    again = resting;
    if (resting) return;
    resting = true;
    setTimeout(rested, everyMs).unref();
    // Who is not told looks by itself soon after.
    database.query('select pg_notify($1, $2)', [channel, '']).catch(() => {});
  }

  function rested(): void {
    resting = false;
    if (again) notify();
  }

  return { notify };
}
