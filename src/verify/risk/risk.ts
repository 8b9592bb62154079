/** What the operator's risk check said of a number before its code was sent. */
export interface RiskAnswer {
  decision: 'allow' | 'block';
  /** A word of the service, like `sim_swap`, or what went wrong; null where it gave none. */
  reason: string | null;
  /** `failure`: no answer came, and `HELIOGRAPH_RISK_ON_FAILURE` decided. */
  source: 'answer' | 'cache' | 'failure';
}

/** A start as the risk check sees it. */
export interface RiskQuestion {
  to: string;
  applicationId: string;
}

/** Never rejects: without an answer the settings decide. */
export type AskRisk = (question: RiskQuestion) => Promise<RiskAnswer>;

const longestReason = 64;

/** A word from outside that rows and stories can hold; null if it is none. */
export function readReason(said: unknown): string | null {
  if (typeof said !== 'string') return null;
  const word = said
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, longestReason);
  return word === '' ? null : word;
}
