import { words } from '../words/analytics.ts';

export type SpanName = keyof typeof words.spans;
export type Measure = keyof typeof words.measures;

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
/** Days are UTC. */
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** The text of a step. */
export function stepText(span: SpanName, at: string): string {
  return (span === 'hour' || span === 'day' ? clock : day).format(new Date(at));
}

export function readSpan(value: string): SpanName {
  return value in words.spans ? (value as SpanName) : 'day';
}

export function readMeasure(value: string): Measure {
  return value === 'p95' ? 'p95' : 'median';
}
