/** The specification's two controls: the per-minute quota and the burst protection. */
export type Control = 'minute' | 'burst';

export const minuteMs = 60_000;
export const burstMs = 1_000;

/** Each early retry moves the end by this much, at most once per `graceMs`. */
const penaltyMs = 1_000;
/** A request this long after the block opened can know of it, whatever its connection was told. */
export const graceMs = 250;

/** The time during which a caller is refused. Early retries extend it, up to `latestEndMs`. */
export interface Block {
  /** The control that set the original end. Every refusal of this block names it. */
  readonly control: Control;
  openedAtMs: number;
  endMs: number;
  latestEndMs: number;
  /** The end does not move again before this time. */
  nextMoveMs: number;
}

/** Opens a block that ends when both windows have a free slot. If both free up together, the minute is named. */
export function openBlock(minuteFreeMs: number, burstFreeMs: number, nowMs: number): Block {
  const byMinute = minuteFreeMs >= burstFreeMs;
  const endMs = byMinute ? minuteFreeMs : burstFreeMs;
  return {
    control: byMinute ? 'minute' : 'burst',
    openedAtMs: nowMs,
    endMs,
    latestEndMs: endMs + (byMinute ? minuteMs : burstMs),
    nextMoveMs: nowMs,
  };
}

/**
 * Handles a request before the end. Its connection opened or finished a response `quietMs` ago: a request sent before
 * the block opened cannot know of it, and is refused without a penalty.
 */
export function moveEnd(block: Block, nowMs: number, quietMs: number): void {
  const canKnow = nowMs - quietMs > block.openedAtMs || nowMs >= block.openedAtMs + graceMs;
  if (!canKnow || nowMs < block.nextMoveMs) return;
  block.endMs = Math.min(block.endMs + penaltyMs, block.latestEndMs);
  block.nextMoveMs = nowMs + graceMs;
}

export function shiftBlock(block: Block, stepMs: number): void {
  block.openedAtMs -= stepMs;
  block.endMs -= stepMs;
  block.latestEndMs -= stepMs;
  block.nextMoveMs -= stepMs;
}
