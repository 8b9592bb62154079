import { createWakeList, type Woken } from '../work/wake-list.ts';
import type { Database } from './database.ts';

export interface NotifierOptions {
  database: Database;
  channel: string;
  /** Shortest time between two NOTIFYs: each takes a global lock at commit. */
  everyMs?: number;
}

/** Postgres takes payloads of fewer than 8000 octets. */
const longestPayload = 7999;
const separator = '\n';

/** Wakes other nodes with NOTIFY. */
export function createNotifier({ database, channel, everyMs = 50 }: NotifierOptions) {
  const list = createWakeList();
  let resting = false;
  let again = false;

  function notify(names?: Woken): void {
    if (names?.length === 0) return;
    list.add(names);
    again = resting;
    if (!resting) send();
  }

  function send(): void {
    again = false;
    resting = true;
    setTimeout(rested, everyMs).unref();
    // Ignore failures: the other nodes also poll.
    database.query('select pg_notify($1, $2)', [channel, toPayload(list.take())]).catch(() => {});
  }

  function rested(): void {
    resting = false;
    if (again) send();
  }

  return {
    /** Wakes the workers of these names on other nodes; none for an empty list. */
    notify,
  };
}

/** An empty payload wakes everyone, as nodes of older versions mean it. */
function toPayload(names: Woken): string {
  const payload = names?.join(separator) ?? '';
  return Buffer.byteLength(payload) > longestPayload ? '' : payload;
}

/** The names in the payload of a notification. */
export function namesIn(payload: string): Woken {
  return payload === '' ? undefined : payload.split(separator);
}
