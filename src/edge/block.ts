/** The two controls of the specification: the per-minute quota and the burst protection. */
export type Control = 'minute' | 'burst';

export const minuteMs = 60_000;
export const burstMs = 1_000;

/** A move of the end costs an early caller this much, and comes at most once in `graceMs`. */
const penaltyMs = 1_000;
/** A request that arrives so long after the opening can know of the block, whatever its connection was told. */
export const graceMs = 250;

/** The time in which a refused caller stays refused. A caller that comes back early makes it longer, up to a bound. */
export interface Block {
  /** The control that set the natural end, named in every refusal of this block. */
  readonly control: Control;
  openedAtMs: number;
  endMs: number;
  latestEndMs: number;
  /** The end moves no earlier than this. */
  nextMoveMs: number;
}

/** Opens a block that ends when both windows have a free slot. The minute sets the end when both say the same. */
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
 * A request came before the end. `quietMs` ago its connection was opened or finished an answer: a request that was on its
 * way when the block was opened cannot know of it, and is refused without being punished.
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
