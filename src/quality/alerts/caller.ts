import { backOffMs } from '../../delivery/carrier/back-off.ts';
import { type Clock, hourMs } from '../../platform/clock.ts';
import type { KeyRing } from '../../platform/crypto/keys.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Environment } from '../../platform/environment.ts';
import { createAlertGuard } from '../../platform/http-out/address-guard.ts';
import { createGuardedClient } from '../../platform/http-out/client.ts';
import type { Log } from '../../platform/log.ts';
import { alertHeaders } from './body.ts';
import { type AlertCall, callsTriedMs, endCall, postponeCall, takeCalls } from './call-store.ts';

export interface AlertCallerOptions {
  url: string;
  environment: Environment;
  database: Database;
  clock: Clock;
  keys: KeyRing;
  log: Log;
}

const answerWithinMs = 10_000;
/** How long calls are made in order: well within their lease. */
const inOrderMs = 5000;
const backOff = { fromMs: 5000, toMs: hourMs };

/**
 * Reports alerts to HELIOGRAPH_ALERT_URL, and retries each until it answers 2xx. A call whose success was not recorded
 * is repeated with the same id, by which the receiver drops it. Returns how many calls were due.
 */
export function createAlertCaller(options: AlertCallerOptions): () => Promise<number> {
  const { url, environment, database, clock, keys, log } = options;
  const client = createGuardedClient({ guard: createAlertGuard(url, environment), clock, timeoutMs: answerWithinMs });

  async function call({ alertId, event, body }: AlertCall): Promise<string | undefined> {
    const timestampSeconds = Math.floor(clock.nowMs() / 1000);
    const signed = { id: `${alertId}-${event}`, timestampSeconds, body };
    const headers = { 'content-type': 'application/json', 'user-agent': 'heliograph', ...alertHeaders(keys, signed) };
    const { error } = await client.call({ url, headers, body });
    return error ?? undefined;
  }

  async function settle(each: AlertCall, problem: string | undefined): Promise<void> {
    const nowMs = clock.nowMs();
    if (problem === undefined) {
      await endCall(database, each, nowMs);
      return;
    }
    // The URL may hold a secret, so only its host is logged.
    const about = { alert: each.alertId, host: new URL(url).host, tries: each.tries, reason: problem };
    if (nowMs - each.createdAtMs >= callsTriedMs) {
      log.error(about, 'an alert could not be reported, and is given up');
      await endCall(database, each, null);
      return;
    }
    log.warn(about, 'an alert could not be reported; will retry');
    await postponeCall(database, each, nowMs + backOffMs(each.tries, backOff));
  }

  return async () => {
    const due = await takeCalls(database, clock.nowMs());
    const left = [...due];
    const fromMs = clock.steadyMs();
    // In order, so that a cause comes before its symptoms. A receiver that fails or is slow gets the others at once.
    while (left.length > 0 && clock.steadyMs() - fromMs < inOrderMs) {
      const [each] = left.splice(0, 1);
      if (each === undefined) break;
      const problem = await call(each);
      await settle(each, problem);
      if (problem !== undefined) break;
    }
    await Promise.all(left.map(async (each) => settle(each, await call(each))));
    return due.length;
  };
}
