/** One sentence of the verdict. */
export interface Line {
  name: string;
  /** What was found, in words. */
  found: string;
  /** Undefined: the run was too short to say. */
  holds: boolean | undefined;
}

/** Below that, memory that still settles looks like a leak. */
export const leastJudgedMs = 600_000;

export function readable(value: number): string {
  return Math.abs(value) < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}
