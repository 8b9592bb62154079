import type { Server } from 'node:net';
import type { Clock } from '../platform/clock.ts';

/**
 * Closing the listener resets connections that the kernel accepted and Node did not. Node accepts one per turn of its
 * loop, so after a short turn without a new connection none is left.
 */
export async function untilAllAccepted(listener: Server, clock: Clock): Promise<void> {
  const [mostTurns, shortMs] = [100, 0.3];
  let accepted = false;
  const note = () => {
    accepted = true;
  };
  listener.on('connection', note);
  // Start at the beginning of a turn, to time whole turns.
  await new Promise((next) => setImmediate(next));
  for (let turn = 0; turn < mostTurns; turn++) {
    accepted = false;
    const beganMs = clock.steadyMs();
    await new Promise((next) => setImmediate(next));
    if (!accepted && clock.steadyMs() - beganMs < shortMs) break;
  }
  listener.off('connection', note);
}

/** Resolves with the promise, or after `ms`. */
export async function within(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
