import { words } from '../words/usage.tsx';
export interface Span {
  name: string;
  title: string;
  step: 'minute' | 'hour' | 'day';
  /** Minutes in a step: the chart's limit is the plan's number times this. */
  minutes: number;
  query: (now: Date) => Record<string, string>;
  label: (at: string) => string;
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The last `count` steps, including the current one. */
function steps(count: number, stepMs: number, now: Date): { from: string; to: string } {
  const toMs = Math.ceil(now.getTime() / stepMs) * stepMs;
  return { from: new Date(toMs - count * stepMs).toISOString(), to: new Date(toMs).toISOString() };
}

export const spans: [Span, ...Span[]] = [
  {
    name: 'hour',
    title: words.spans.hour,
    step: 'minute',
    minutes: 1,
    query: () => ({}),
    label: (at) => clock.format(new Date(at)),
  },
  {
    name: 'day',
    title: words.spans.day,
    step: 'hour',
    minutes: 60,
    query: (now) => ({ ...steps(24, hourMs, now), step: 'hour' }),
    label: (at) => clock.format(new Date(at)),
  },
  {
    name: 'month',
    title: words.spans.month,
    step: 'day',
    minutes: 1440,
    query: (now) => ({ ...steps(30, dayMs, now), step: 'day' }),
    label: (at) => day.format(new Date(at)),
  },
];
