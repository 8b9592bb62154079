/** What the operator's risk check said of a number before its code was sent. */
export interface RiskAnswer {
  decision: 'allow' | 'block';
  /** A word of the service, like `sim_swap`, or what went wrong; null where it gave none. */
  reason: string | null;
  /** `failure`: no answer came, and `HELIOGRAPH_RISK_ON_FAILURE` decided. */
  source: 'answer' | 'cache' | 'failure';
}

/** The parts of a start that the risk check gets. */
export interface RiskQuestion {
  to: string;
  applicationId: string;
}

/** Never rejects: without an answer the settings decide. */
export type AskRisk = (question: RiskQuestion) => Promise<RiskAnswer>;

const longestReason = 64;

/** Shortens the service's reason to a word for rows and timelines; null if nothing is left. */
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
