/** Bounds the copies that a silent carrier causes: one that is only slow must not double what codes cost. */
export interface CopyBudget {
  readonly mayCopy: boolean;
  /** A code was answered, or a copy of it was sent because no answer came. */
  note(copied: boolean): void;
}

const lastCodes = 1000;
/** 5 % of them. */
const mostCopies = 50;

export function createCopyBudget(): CopyBudget {
  const copied = new Uint8Array(lastCodes);
  let place = 0;
  let copies = 0;
  return {
    get mayCopy() {
      return copies < mostCopies;
    },
    note(isCopy) {
      copies += Number(isCopy) - (copied[place] ?? 0);
      copied[place] = Number(isCopy);
      place = (place + 1) % lastCodes;
    },
  };
}
