import { createAlertGuard } from '../../platform/http-out/address-guard.ts';
import { createGuardedClient } from '../../platform/http-out/client.ts';
import { createRiskCheck, longestRiskAnswer, riskWithinMs } from '../../verify/risk/check.ts';
import type { AskRisk } from '../../verify/risk/risk.ts';
import type { Foundation } from '../foundation.ts';

const tokenWithinMs = 5000;

/** The operator's risk check. Undefined, and at no cost, where none is configured. */
export function composeRisk({ config, clock }: Pick<Foundation, 'config' | 'clock'>): {
  ask: AskRisk | undefined;
  drain(): Promise<void>;
} {
  const { risk: settings, environment } = config;
  if (settings === undefined) return { ask: undefined, drain: async () => {} };
  const clientOf = (url: string, timeoutMs: number) =>
    createGuardedClient({ guard: createAlertGuard(url, environment), clock, timeoutMs, keptBytes: longestRiskAnswer });
  const client = clientOf(settings.url, riskWithinMs);
  const tokenClient = clientOf(settings.credentials?.tokenUrl ?? settings.url, tokenWithinMs);
  // Load the HTTP library now: loading it for the first question would use up its time limit.
  void client.prepare();
  return {
    ask: createRiskCheck({ settings, client, tokenClient, clock }),
    async drain() {
      await Promise.all([client.close(), tokenClient.close()]);
    },
  };
}
