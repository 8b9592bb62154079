import type { Clock } from '../../platform/clock.ts';
import { createWriteWindow } from './write-window.ts';

/**
 * How fast we may send to a carrier: at the rate of its settings until it throttles. Then sending pauses, and the rate is
 * halved. Every 10 s without throttling it rises: by a tenth of the throttled rate up to that rate, then it doubles.
 */
export interface SubmitRate {
  /** Takes the right to send one part now. `noteWritten` or `noteUnsent` follows for each. */
  take(): boolean;
  /** A part that took a right is written to the network: the second for which it counts starts here. */
  noteWritten(): void;
  /** The part will not be written: its right is free again. */
  noteUnsent(): void;
  /** When `take` may succeed again (steady time). */
  readonly nextMs: number;
  /** Parts a second: the limit, or the recent rate without a limit. */
  readonly perSecond: number;
  readonly isLimited: boolean;
  readonly isPaused: boolean;
  /** The pause lasts `atLeastMs`, if the carrier named a time. */
  noteThrottled(atLeastMs?: number): void;
  noteAccepted(): void;
  /** The share of the account's rate that this node may use now; null for no limit. */
  setLimit(perSecond: number | null): void;
}

const pause = { fromMs: 1000, toMs: 30_000 };
const faster = { everyMs: 10_000, share: 0.1 };
/** Unused rights are kept for this long, so that a late timer costs nothing. */
const keptMs = 50;
/** At this rate our own limit is dropped: it no longer limits anything. */
const fast = 10_000;
const measureMs = 500;

export function createSubmitRate(clock: Clock, perSecond: number | null): SubmitRate {
  let configured = perSecond ?? Number.POSITIVE_INFINITY;
  /** Our own limit, after `throttled`. */
  let learnt = Number.POSITIVE_INFINITY;
  /** The rate at which the carrier began to throttle. */
  let throttledAt = 0;
  let hasSpedUp = true;
  let fasterAtMs = 0;
  let pausedUntilMs = 0;
  let pauseMs = pause.fromMs;
  let acceptedSincePause = true;
  /** All rights up to this time are used. */
  let usedUntilMs = 0;
  /** Keeps the account's rate exactly. The learnt rate is a guess, and needs no exact count. */
  const written = createWriteWindow(clock);
  const lately = { fromMs: 0, parts: 0, perSecond: 0 };

  function limit(): number {
    const nowMs = clock.steadyMs();
    while (learnt < Number.POSITIVE_INFINITY && nowMs >= fasterAtMs) {
      learnt = learnt < throttledAt ? learnt + throttledAt * faster.share : learnt * 2;
      hasSpedUp = true;
      fasterAtMs += faster.everyMs;
      if (learnt >= fast || learnt >= configured) learnt = Number.POSITIVE_INFINITY;
    }
    return Math.min(configured, learnt);
  }

  function measure(nowMs: number): void {
    const tookMs = nowMs - lately.fromMs;
    if (tookMs < measureMs) return;
    lately.perSecond = (lately.parts * 1000) / tookMs;
    lately.parts = 0;
    lately.fromMs = nowMs;
  }

  function halve(nowMs: number): void {
    measure(nowMs);
    // Soon after a pause the recent rate says nothing.
    const sent = learnt < Number.POSITIVE_INFINITY ? learnt : Math.max(lately.perSecond, lately.parts);
    const current = Math.min(limit(), sent);
    // Throttled again before it could speed up: that says nothing about the rate that the carrier takes at other times.
    if (hasSpedUp) throttledAt = current;
    hasSpedUp = false;
    learnt = Math.max(1, current / 2);
  }

  return {
    take() {
      const nowMs = clock.steadyMs();
      measure(nowMs);
      if (nowMs < pausedUntilMs) return false;
      if (configured < Number.POSITIVE_INFINITY && !written.hasRoom(configured)) return false;
      const stepMs = 1000 / limit();
      const fromMs = Math.max(usedUntilMs, nowMs - Math.max(keptMs, stepMs));
      if (fromMs + stepMs > nowMs) return false;
      usedUntilMs = fromMs + stepMs;
      lately.parts++;
      written.take();
      return true;
    },
    noteWritten() {
      written.noteWritten(configured);
    },
    noteUnsent: written.noteUnsent,
    get nextMs() {
      const roomMs = configured < Number.POSITIVE_INFINITY ? written.roomMs(configured) : 0;
      return Math.max(pausedUntilMs, usedUntilMs + 1000 / limit(), roomMs);
    },
    get perSecond() {
      if (limit() < Number.POSITIVE_INFINITY) return limit();
      measure(clock.steadyMs());
      return Math.max(lately.perSecond, lately.parts);
    },
    get isLimited() {
      return limit() < Number.POSITIVE_INFINITY;
    },
    get isPaused() {
      return clock.steadyMs() < pausedUntilMs;
    },
    noteThrottled(atLeastMs = 0) {
      const nowMs = clock.steadyMs();
      // Further answers to texts under way belong to the same event.
      if (nowMs < pausedUntilMs) return;
      // While nothing is accepted in between, only the pauses grow: halving each time would end at one part a second.
      if (acceptedSincePause) halve(nowMs);
      pauseMs = acceptedSincePause ? pause.fromMs : Math.min(pause.toMs, pauseMs * 2);
      acceptedSincePause = false;
      pausedUntilMs = nowMs + Math.max(pauseMs, atLeastMs);
      fasterAtMs = pausedUntilMs + faster.everyMs;
    },
    noteAccepted() {
      if (clock.steadyMs() >= pausedUntilMs) acceptedSincePause = true;
    },
    setLimit(allowed) {
      // Nothing was counted while there was no limit.
      if (allowed !== null && configured === Number.POSITIVE_INFINITY) written.closeForNow();
      configured = allowed ?? Number.POSITIVE_INFINITY;
    },
  };
}
