import type { Clock } from '../clock.ts';
import { StartError } from '../errors.ts';
import type { Log } from '../log.ts';
import { createPoller } from '../work/poller.ts';
import type { Database } from './database.ts';

const toleratedMs = 2000;

/**
 * Nodes write times from their own clocks and compare each other's times. A node with a wrong clock would expire codes
 * early or accept expired tokens.
 */
export async function requireClockAgrees(database: Database, clock: Clock): Promise<void> {
  const offMs = await readOffMs(database, clock);
  if (offMs > toleratedMs) {
    throw new StartError(
      `This machine's clock and the database's differ by ${(offMs / 1000).toFixed(1)} s; at most 2 s are allowed.\n` +
        'Synchronize both with NTP, then start again.',
    );
  }
}

/** By how much the two clocks differ at least: the answer takes time on its way. */
async function readOffMs(database: Database, clock: Clock): Promise<number> {
  const beforeMs = clock.nowMs();
  const { rows } = await database.query<{ now: number }>('select clock_timestamp() as now');
  const afterMs = clock.nowMs();
  const databaseMs = rows[0]?.now ?? 0;
  return databaseMs < beforeMs ? beforeMs - databaseMs : Math.max(0, databaseMs - afterMs);
}

/** Compares the clocks while the node runs. A node whose clock is wrong takes no text, and is not ready. */
export interface ClockWatch {
  /** False as soon as this machine's clock jumps: its steady clock shows that before the next comparison. */
  isRight(): boolean;
  /** Compares now. Throws if the database does not answer, and the result of the last comparison stays. */
  compare(): Promise<void>;
  stop(): void;
}

const compareEveryMs = 10_000;
/** The interval while the clock is wrong. */
const compareSoonMs = 500;

/** Begins with a clock that `requireClockAgrees` has just found right. */
export function watchClock(database: Database, clock: Clock, log: Log): ClockWatch {
  const aheadOfSteadyMs = () => clock.nowMs() - clock.steadyMs();
  let agrees = true;
  let comparedAheadMs = aheadOfSteadyMs();
  let isHurried = false;
  const poller = createPoller({ run: compare, pauseMs: () => (isRight() ? compareEveryMs : compareSoonMs) });

  function isRight(): boolean {
    const isStepped = Math.abs(aheadOfSteadyMs() - comparedAheadMs) > toleratedMs;
    if (isStepped && !isHurried) {
      isHurried = true;
      poller.hurry();
    }
    return agrees && !isStepped;
  }

  async function compare(): Promise<void> {
    const aheadMs = aheadOfSteadyMs();
    const offMs = await readOffMs(database, clock);
    const agreed = agrees;
    agrees = offMs <= toleratedMs;
    comparedAheadMs = aheadMs;
    isHurried = false;
    if (agreed && !agrees) log.error({ off_ms: Math.round(offMs) }, isWrong);
    if (!agreed && agrees) log.info({}, "this machine's clock agrees with the database's again");
  }

  poller.start();

  return { isRight, compare, stop: () => void poller.stop() };
}

const isWrong =
  "this machine's clock and the database's differ by more than 2 s: this node delivers nothing until they agree";
