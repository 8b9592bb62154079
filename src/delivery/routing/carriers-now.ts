import type { Clock } from '../../platform/clock.ts';
import { type CarrierBind, canSend } from '../carrier/bind-store.ts';
import type { CarrierFacts } from '../carrier/configured.ts';
import type { CarrierHealth } from './routing.ts';

export function bindsOf(binds: readonly CarrierBind[], { id }: { id: number }): CarrierBind[] {
  return binds.filter(({ carrierId }) => carrierId === id);
}

/** A carrier's health, from its connections on all nodes. */
export function healthOf(
  { key, name, paused, channels }: Pick<CarrierFacts, 'key' | 'name' | 'paused' | 'channels'>,
  binds: readonly CarrierBind[],
): CarrierHealth {
  const open = [...new Set(binds.flatMap((bind) => bind.open ?? []))];
  return { key, name, paused, channels, up: binds.some(canSend), open };
}

export function isDown({ paused, up }: CarrierHealth): boolean {
  return paused || !up;
}

/** A carrier that works again for less than this, like one that is being probed, has not recovered. */
const recoveredMs = 15_000;

/** Since when (steady clock) this node has seen carriers in trouble. */
export function createTroubleTimes(clock: Pick<Clock, 'steadyMs'>) {
  const times = new Map<string, { fromMs: number; lastMs: number }>();
  let troubled: readonly string[] = [];
  return {
    /** Notes the carriers that are in trouble now. */
    note(keys: readonly string[]): void {
      const nowMs = clock.steadyMs();
      for (const [key, { lastMs }] of times)
        if (lastMs < nowMs - recoveredMs && !troubled.includes(key)) times.delete(key);
      // Also counts this read as trouble for carriers whose trouble has just ended: they work from now on, at the earliest.
      for (const key of [...troubled, ...keys])
        times.set(key, { fromMs: times.get(key)?.fromMs ?? nowMs, lastMs: nowMs });
      troubled = keys;
    },
    /** Null if the carrier is not in trouble. */
    sinceMs: (key: string): number | null => (troubled.includes(key) ? (times.get(key)?.fromMs ?? null) : null),
  };
}
