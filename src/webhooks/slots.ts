import type { Clock } from '../platform/clock.ts';
import { quickWithinMs } from './pace.ts';
import { createShares, type Holding, type Seeker } from './shares.ts';

/** An endpoint with calls to make. */
export interface CallLine extends Seeker {
  /** Begins a call and frees its slot at the end. Returns whether the endpoint has another call to make. */
  begin(free: () => void): boolean;
  /** A call of the endpoint has already taken this long. */
  noteAge(ageMs: number): void;
}

/** Limits the concurrent calls of one process. Endpoints wait in line, and begin a call when it is their turn. */
export interface CallSlots {
  /** Adds an endpoint that has a call to make. Does nothing if it is already in line. */
  join(line: CallLine): void;
  leave(line: CallLine): void;
  /** Moves calls that take longer than a second out of the quick half. Runs every 100 ms. */
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
  /** Calls that are not slow yet, oldest first. */
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
      // An endpoint with another call moves to the end of the line.
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
      // An account that no longer competes with others may have more calls.
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
