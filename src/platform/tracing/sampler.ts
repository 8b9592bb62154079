import type { Clock } from '../clock.ts';
import { guessableFraction } from '../crypto/random.ts';
import type { TraceParent } from './trace-context.ts';

export interface SamplerSettings {
  /** Whether the sampled flag of an identified caller decides. */
  parentBased: boolean;
  /** The share of other traces: 0 to 1. */
  ratio: number;
}

export interface Sampler {
  /** `caller` names the identified caller. */
  isSampled(parent: TraceParent | undefined, caller: string): boolean;
}

/** Maximum traces a second that one caller may request, over all processes. */
export const askedPerSecond = 10;
const mostCallers = 10_000;

/** Each of the processes that answer now grants its share: at least one, so more than ten processes grant more. */
export function createSampler(
  { parentBased, ratio }: SamplerSettings,
  clock: Clock,
  answering: () => number = () => 1,
): Sampler {
  let most = askedPerSecond;
  let asked = new Map<string, number>();
  let second = 0;

  function mayAsk(caller: string): boolean {
    const now = Math.floor(clock.steadyMs() / 1000);
    if (now !== second) {
      second = now;
      most = Math.max(1, Math.floor(askedPerSecond / answering()));
      if (asked.size > 0) asked = new Map();
    }
    const before = asked.get(caller) ?? 0;
    if (before >= most || (before === 0 && asked.size >= mostCallers)) return false;
    asked.set(caller, before + 1);
    return true;
  }

  return {
    isSampled(parent, caller) {
      if (parent === undefined) return ratio >= 1 || (ratio > 0 && guessableFraction() < ratio);
      if (parentBased && !parent.sampled) return false;
      if (parentBased && mayAsk(caller)) return true;
      return isWithin(parent.traceId, ratio);
    },
  };
}

/** By the last 56 bits, which W3C asks to be random: so other services with an equal share keep the same traces. */
export function isWithin(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-14), 16) < ratio * 2 ** 56;
}
