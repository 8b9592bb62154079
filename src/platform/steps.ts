/** A span of time for which the rows of an application are counted, step by step. */
export interface Span {
  applicationId: string;
  fromMs: number;
  /** Not itself in the span. */
  toMs: number;
  stepMs: number;
}

/** SQL for the step a row belongs to, as the number of steps since 1970. `$2` is the length of a step in milliseconds. */
export function stepOf(column: string): string {
  return `floor(extract(epoch from ${column}) * 1000 / $2)::bigint`;
}
