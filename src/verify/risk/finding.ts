import type { GuardExplanation } from '../explanations.ts';
import type { RiskAnswer } from './risk.ts';

/** The risk check as the last of the guard's rules. */
export function addRisk(explained: GuardExplanation, { decision, reason, source }: RiskAnswer): GuardExplanation {
  const said = source === 'failure' ? `no answer; HELIOGRAPH_RISK_ON_FAILURE is ${decision}` : decision;
  const rule = { rule: 'risk', limit: null, seen: reason === null ? said : `${said} (${reason})` } as const;
  const isBlocked = decision === 'block';
  return { ...explained, ...(isBlocked && { decision, reason: 'risk' }), rules: [...explained.rules, rule] };
}
