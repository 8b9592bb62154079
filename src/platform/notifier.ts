import type { Database } from './database.ts';

/** Wakes other nodes with NOTIFY. */
export interface Notifier {
  notify(): void;
}

export interface NotifierOptions {
  database: Database;
  channel: string;
  /** Shortest time between two NOTIFYs: each takes a global lock at commit. */
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
    // Ignore failures: the other nodes also poll.
    database.query('select pg_notify($1, $2)', [channel, '']).catch(() => {});
  }

  function rested(): void {
    resting = false;
    if (again) notify();
  }

  return { notify };
}
