/** The two controls of the specification: the per-minute quota and the burst protection. */
export type Control = 'minute' | 'burst';

export const minuteMs = 60_000;
export const burstMs = 1_000;

/** A move of the end costs an early caller this much, */
const penaltyMs = 1_000;
/** and comes at most once in this time, so that requests already in flight at a refusal are not punished. */
const graceMs = 250;

/** The time in which a refused caller stays refused. It ends by itself; who asks before makes it longer, up to a bound. */
export interface Block {
  /** The control that set the natural end, named in every refusal of this block. */
  readonly control: Control;
  endMs: number;
  latestEndMs: number;
  /** When the block was opened or its end last moved. */
  movedAtMs: number;
}

/** Opens a block that ends when both windows have a free slot. The minute sets the end when both say the same. */
export function openBlock(minuteFreeMs: number, burstFreeMs: number, nowMs: number): Block {
  return minuteFreeMs >= burstFreeMs
    ? { control: 'minute', endMs: minuteFreeMs, latestEndMs: minuteFreeMs + minuteMs, movedAtMs: nowMs }
    : { control: 'burst', endMs: burstFreeMs, latestEndMs: burstFreeMs + burstMs, movedAtMs: nowMs };
}

/** A request came before the end. */
export function moveEnd(block: Block, nowMs: number): void {
  if (nowMs < block.movedAtMs + graceMs) return;
  block.endMs = Math.min(block.endMs + penaltyMs, block.latestEndMs);
  block.movedAtMs = nowMs;
}

export function shiftBlock(block: Block, stepMs: number): void {
  block.endMs -= stepMs;
  block.latestEndMs -= stepMs;
  block.movedAtMs -= stepMs;
}
