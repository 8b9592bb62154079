// Tests: test/smpp/failover.test.ts
const lastCodes = 1000;
/** 5 % of `lastCodes`. */
const mostCopies = 50;

/** Limits the copies of codes for a carrier that does not answer: a slow carrier must not double the cost of codes. */
export function createCopyBudget() {
  const copied = new Uint8Array(lastCodes);
  let index = 0;
  let copies = 0;
  return {
    get mayCopy(): boolean {
      return copies < mostCopies;
    },
    /** A code was answered, or a copy of it was sent because no answer came. */
    note(isCopy: boolean): void {
      copies += Number(isCopy) - (copied[index] ?? 0);
      copied[index] = Number(isCopy);
      index = (index + 1) % lastCodes;
    },
  };
}
