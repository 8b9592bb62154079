import type { Comparison, Spread } from './rounds.ts';

/** One line of the result. */
export interface Row {
  group: string;
  name: string;
  /** `ratio`: more is better, and 1 is what it is held against. */
  unit: 'ratio' | 'ms' | 'kB' | '%' | '/s';
  value: Spread;
  /** The same ratio by CPU time. */
  byCpu?: Spread;
  perSecond?: number;
  cpuMicroseconds?: number;
  postgresMicroseconds?: number;
  goal?: { atLeast: number } | { below: number };
  /** For readers of the JSON. */
  measured?: Comparison;
}

/** Whether the goal is met; undefined where there is none. */
export function holds({ value, goal }: Row): boolean | undefined {
  if (goal === undefined) return undefined;
  return 'atLeast' in goal ? value.median >= goal.atLeast : value.median < goal.below;
}

export function ratioRow(group: string, name: string, measured: Comparison, atLeast?: number): Row {
  const { ratio, byCpu, subject } = measured;
  return {
    group,
    name,
    unit: 'ratio',
    value: ratio,
    byCpu,
    perSecond: subject.perSecond,
    cpuMicroseconds: subject.cpuMicroseconds,
    postgresMicroseconds: subject.postgresMicroseconds,
    ...(atLeast !== undefined && { goal: { atLeast } }),
    measured,
  };
}
