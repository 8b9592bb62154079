// Tests: test/sso/sessions.test.ts
import { type Clock, minuteMs } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log.ts';
import { createPoller } from '../../platform/work/poller.ts';
import { absoluteMs } from '../sign-in/session.ts';
import { deleteSession } from '../sign-in/session-store.ts';
import type { Provider } from './provider.ts';
import type { SealRefresh } from './seal-refresh.ts';
import { claimDueSessions, postponeRecheck, renewSession, type SsoSession } from './session-store.ts';

export const recheckMs = 5 * minuteMs;
/** How long a session lives after its last good check, or without any. */
export const uncheckedMs = 60 * minuteMs;
const retryMs = 30_000;
const leaseMs = minuteMs;
const pollMs = 10_000;
const atOnce = 20;

export interface RecheckOptions {
  database: Database;
  clock: Clock;
  log: Log;
  provider: Provider;
  seals: SealRefresh;
}

export type Rechecks = ReturnType<typeof createRechecks>;

/** Asks the provider every 5 minutes whether the person of a session is still there. No request waits for it. */
export function createRechecks({ database, clock, log, provider, seals }: RecheckOptions) {
  async function recheck(session: SsoSession & { refresh: Buffer }): Promise<void> {
    const { sessionHash, subject } = session;
    try {
      const renewed = await provider.refresh(seals.open(session.refresh, session), subject);
      const nowMs = clock.nowMs();
      if (renewed === undefined) return await deleteSession(database, sessionHash);
      const refresh = seals.seal(renewed.refreshToken, session);
      if (renewed.failure !== undefined) return await postpone(sessionHash, renewed.failure, refresh);
      const times = { dueAtMs: nowMs + recheckMs, endsAtMs: nowMs + uncheckedMs, absoluteMs };
      const { operator } = renewed;
      await database.transaction((tx) => renewSession(tx, { sessionHash, refresh, operator }, times));
    } catch (error) {
      await postpone(sessionHash, error as Error);
    }
  }

  async function postpone(sessionHash: Buffer, { message: reason }: Error, refresh?: Buffer): Promise<void> {
    log.warn({ reason }, 'single sign-on: a session could not be checked');
    await postponeRecheck(database, sessionHash, clock.nowMs() + retryMs, refresh);
  }

  /** Checks all sessions that are due. Returns their number. */
  async function run(): Promise<number> {
    let checked = 0;
    for (;;) {
      const nowMs = clock.nowMs();
      const due = await claimDueSessions(database, { nowMs, leasedUntilMs: nowMs + leaseMs, limit: atOnce });
      await Promise.all(due.map(recheck));
      checked += due.length;
      if (due.length < atOnce) return checked;
    }
  }

  const poller = createPoller({
    run,
    pauseMs: pollMs,
    onFailure: (error) => log.warn({ reason: error.message }, 'single sign-on: sessions could not be checked'),
  });
  return { run, start: () => poller.start(), stop: () => poller.stop() };
}
