import type { Check } from '../http/operations-api.ts';
import type { Foundation } from './foundation.ts';

/** What `/readyz` asks, and how a node says that it is about to stop. */
export function composeReadiness({ config, database }: Foundation, windowChecks: Check[]) {
  let draining = false;
  const checks: Check[] = [
    { name: 'database', passes: () => database.query('select 1').then(() => true) },
    ...windowChecks,
  ];
  // A lone node has no other that a balancer could turn to.
  if (config.redisUrl !== undefined) checks.push({ name: 'accepting', passes: async () => !draining });
  return {
    checks,
    isDraining: () => draining,
    async drain(forMs: number): Promise<void> {
      draining = true;
      await new Promise((done) => setTimeout(done, forMs));
    },
  };
}
