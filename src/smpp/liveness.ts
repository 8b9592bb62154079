// Tests: test/smpp/session.test.ts
import type { Clock } from '../platform/clock.ts';

const probeMs = 10_000;
const timeoutsBeforeProbe = 3;

export interface LivenessOptions {
  clock: Clock;
  /** A silent peer is probed after this time. */
  enquireLinkMs: () => number;
  sendProbe: () => void;
}

/** Whether the peer lives. Any PDU is a sign of life, so a backlog of receipts ends no session. */
export function createLiveness({ clock, enquireLinkMs, sendProbe }: LivenessOptions) {
  let heardMs = clock.steadyMs();
  let probedMs: number | undefined;

  function probe(): void {
    if (probedMs !== undefined) return;
    probedMs = clock.steadyMs();
    sendProbe();
  }

  return {
    get heardMs(): number {
      return heardMs;
    },
    /** Call it when a PDU came, or to restart the time of silence. */
    heard(): void {
      heardMs = clock.steadyMs();
      probedMs = undefined;
    },
    /** Submits went unanswered: probes the peer if it has been silent. */
    doubt(sentMs: number[], timeoutsInRow: number): void {
      const isSilent = sentMs.some((ms) => heardMs <= ms);
      if (isSilent || timeoutsInRow >= timeoutsBeforeProbe) probe();
    },
    /** Probes a silent peer. False: it has not answered the probe in time. */
    check(nowMs: number): boolean {
      if (probedMs !== undefined) return nowMs - probedMs < probeMs;
      if (nowMs - heardMs >= enquireLinkMs()) probe();
      return true;
    },
  };
}
