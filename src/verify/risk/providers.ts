// Tests: test/contract/risk.test.ts
import { routedCountryOf } from '../../messages/numbers/phone-number.ts';
import { isObject } from '../../platform/is-object.ts';
import { type RiskAnswer, type RiskQuestion, readReason } from './risk.ts';

/** How to ask one kind of service, and how to read its answer. */
export interface RiskProvider {
  url: string;
  bodyOf(question: RiskQuestion): object;
  /** Undefined if this is not an answer of such a service. */
  read(answer: unknown): Pick<RiskAnswer, 'decision' | 'reason'> | undefined;
}

/** A service of the operator's own, with our JSON format. */
export function plainProvider(url: string): RiskProvider {
  return {
    url,
    bodyOf: ({ to, applicationId }) => ({ to, country: routedCountryOf(to) ?? null, application_id: applicationId }),
    read(answer) {
      if (!isObject(answer)) return undefined;
      const { decision, reason } = answer;
      return decision === 'allow' || decision === 'block' ? { decision, reason: readReason(reason) } : undefined;
    },
  };
}

/** CAMARA SIM Swap 2: whether the SIM of the number was changed within these hours. `url` is the API's root or its check. */
export function simSwapProvider(url: string, maxAgeHours: number): RiskProvider {
  return {
    url: url.endsWith('/check') ? url : `${url}/check`,
    bodyOf: ({ to }) => ({ phoneNumber: to, maxAge: maxAgeHours }),
    read(answer) {
      if (!isObject(answer) || typeof answer.swapped !== 'boolean') return undefined;
      return answer.swapped ? { decision: 'block', reason: 'sim_swap' } : { decision: 'allow', reason: null };
    },
  };
}
