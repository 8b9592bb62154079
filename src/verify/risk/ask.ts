// Tests: test/contract/risk.test.ts, test/races/fallback-risk.test.ts
import { testNumberOf } from '../../messages/numbers/test-numbers.ts';
import type { ExplainItem, GuardExplanation } from '../explanations.ts';
import type { StartRequest } from '../start/decision.ts';
import type { AskRisk } from './risk.ts';

export interface RiskAskingOptions {
  environment: 'sandbox' | 'production';
  /** The operator's risk check; undefined where none is configured. */
  ask: AskRisk | undefined;
  /** What the guard would decide now. */
  explain: (item: ExplainItem) => Promise<GuardExplanation | Error>;
  /** Whether the number has a pending code, which can be sent again. Absent where the guard decides about every send. */
  isPending?: (of: Pick<StartRequest, 'applicationId' | 'to'>) => Promise<boolean>;
}

/**
 * Asks the risk check about sends that the guard would allow, outside any transaction, and adds the answer to the request.
 */
export function createRiskAsking({ environment, ask, explain, isPending }: RiskAskingOptions) {
  const isSandbox = environment === 'sandbox';

  return async (request: StartRequest): Promise<StartRequest> => {
    const { applicationId, to, holds, mayUseChannel } = request;
    if (ask === undefined || !mayUseChannel || (isSandbox && testNumberOf(to) !== undefined)) return request;
    const guarded = await explain({ applicationId, to, holds: isSandbox ? undefined : holds, keep: () => undefined });
    if (guarded instanceof Error) throw guarded;
    // The guard does not count resends: it may send a pending code even where it would block a start.
    const { reason } = guarded;
    if (reason !== null && !(await isPending?.({ applicationId, to }))) return { ...request, guarded: reason };
    return { ...request, risk: await ask({ applicationId, to }) };
  };
}
