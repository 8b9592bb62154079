import type { Check } from '../http/operations-api.ts';
import type { NodeOfProcesses } from './app-interface.ts';
import type { Foundation } from './foundation.ts';

/** Builds the checks of `/readyz`, and the switch that takes a node out of rotation before it stops. */
export function composeReadiness(
  { config, database, clockWatch }: Foundation,
  windowChecks: Check[],
  node?: NodeOfProcesses,
) {
  let draining = false;
  const checks: Check[] = [
    { name: 'database', passes: () => database.query('select 1').then(() => true) },
    ...windowChecks,
  ];
  const { primary } = database;
  // Optional: without it the node works, but a failover may lose what was answered last.
  if (primary !== undefined) {
    const passes = async () => primary.state().isSynchronous === true;
    checks.push({ name: 'synchronous_standby', optional: true, passes });
  }
  if (clockWatch !== undefined) checks.push({ name: 'clock', passes: async () => clockWatch.isRight() });
  if (node !== undefined) checks.push({ name: 'windows', passes: async () => node.isAnswering() });
  // A lone node stays ready: a balancer has no other node to use.
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
