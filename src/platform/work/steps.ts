/** A time span in which to count an application's rows per step. */
export interface Span {
  applicationId: string;
  fromMs: number;
  /** Exclusive. */
  toMs: number;
  stepMs: number;
}

/** SQL for a row's step: the number of steps since 1970. `$2` is the step length in milliseconds. */
export function stepOf(column: string): string {
  return `floor(extract(epoch from ${column}) * 1000 / $2)::bigint`;
}

/** SQL for the time of an id, in whole milliseconds since 1970. */
export function msOfId(column: string): string {
  return `('x' || left(replace(${column}::text, '-', ''), 12))::bit(48)::bigint`;
}
