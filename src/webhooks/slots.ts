import type { Clock } from '../platform/clock.ts';
import { quickWithinMs } from './pace.ts';
import { createShares, type Holding, type Seeker } from './shares.ts';

/** An endpoint with calls to make. */
export interface CallLine extends Seeker {
  /** Begins a call and frees its slot at its end. Returns whether it has another to begin. */
  begin(free: () => void): boolean;
  /** A call of it takes so long already. */
  noteAge(ageMs: number): void;
}

/** Bounds how many calls are under way in one process. Endpoints wait in line, and begin a call when it is their turn. */
export interface CallSlots {
  /** It has a call to begin. Does nothing if it is in line already. */
  join(line: CallLine): void;
  leave(line: CallLine): void;
  /** Calls that take longer than a second give their place to quick endpoints. To be called every now and then. */
  watch(): void;
}

interface Call {
  line: CallLine;
  holding: Holding;
  begunAtMs: number;
}

export function createCallSlots(clock: Pick<Clock, 'steadyMs'>, most: number): CallSlots {
  const shares = createShares(most);
  const inLine = new Set<CallLine>();
  /** Those that are not slow yet, in the order in which they began. */
  const young = new Set<Call>();
  let isGranting = false;

  function grant(): void {
    if (isGranting) return;
    isGranting = true;
    for (let turn = shares.next(inLine); turn !== undefined; turn = shares.next(inLine)) {
      const line = turn.seeker;
      inLine.delete(line);
      const call: Call = { line, holding: shares.take(turn), begunAtMs: clock.steadyMs() };
      if (call.holding.lane !== 'slow') young.add(call);
      // With another call it goes to the end of the line.
      if (line.begin(() => free(call))) inLine.add(line);
    }
    isGranting = false;
  }

  function free(call: Call): void {
    young.delete(call);
    shares.free(call.holding);
    grant();
  }

  return {
    join(line) {
      if (inLine.has(line)) return;
      inLine.add(line);
      grant();
    },
    leave(line) {
      // One account alone may have more than while others wait.
      if (inLine.delete(line)) grant();
    },
    watch() {
      const nowMs = clock.steadyMs();
      for (const call of young) {
        const ageMs = nowMs - call.begunAtMs;
        if (ageMs <= quickWithinMs) break;
        young.delete(call);
        shares.move(call.holding, 'slow');
        call.line.noteAge(ageMs);
      }
      grant();
    },
  };
}
