import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { createPoller } from './poller.ts';
import { createWakeableSleep } from './wakeable-sleep.ts';

/** Upkeep of stored rows. It runs in small batches in the background, never in a request or at startup. */
export interface Chore {
  /** The name in metrics and logs, such as `expired-sessions`. */
  name: string;
  everyMs: number;
  /** Handles one small batch in its own transaction. Returns the number of rows it changed; 0 ends the round. */
  runPiece(): Promise<number>;
  /** Ends a batch that may take long, because the node stops. */
  interrupt?(): void;
}

export type MaintenanceCount = 'rows' | 'failures';

export interface Maintenance {
  start(): void;
  stop(): Promise<void>;
  /** Runs every chore to its end. For tests and commands. */
  runAll(): Promise<void>;
}

export interface MaintenanceOptions {
  chores: Chore[];
  clock: Clock;
  log: Log;
  onCount: (chore: string, count: MaintenanceCount, by: number) => void;
  /** Chores wait while it is false. */
  mayRun?: () => boolean;
}

/** Rows per batch. A thousand rows occupy one connection for about ten milliseconds. */
export const pieceRows = 1000;

const shortestPauseMs = 5;

/** Runs the chores. A failed chore runs again in its next round and delays no other. */
export function createMaintenance({
  chores,
  clock,
  log,
  onCount,
  mayRun = () => true,
}: MaintenanceOptions): Maintenance {
  const sleep = createWakeableSleep();

  async function runRound(chore: Chore): Promise<void> {
    try {
      while (!sleep.stopped && mayRun()) {
        const beganMs = clock.steadyMs();
        const rows = await chore.runPiece();
        if (rows === 0) return;
        onCount(chore.name, 'rows', rows);
        // Pause as long as the batch took, so that Postgres is half free for requests.
        await sleep.ignoringWakes(Math.max(shortestPauseMs, clock.steadyMs() - beganMs));
      }
    } catch (error) {
      onCount(chore.name, 'failures', 1);
      log.warn({ chore: chore.name, reason: (error as Error).message }, 'maintenance failed; it will be retried');
    }
  }

  const pollers = chores.map((chore) => createPoller({ run: () => runRound(chore), pauseMs: chore.everyMs }));

  return {
    start() {
      // Stagger the first rounds.
      for (const [index, { everyMs }] of chores.entries()) {
        pollers[index]?.start(Math.min(everyMs, 1000 + index * 100));
      }
    },
    async stop() {
      sleep.stop();
      for (const chore of chores) chore.interrupt?.();
      await Promise.all(pollers.map((poller) => poller.stop()));
    },
    async runAll() {
      for (const chore of chores) while ((await chore.runPiece()) > 0);
    },
  };
}
