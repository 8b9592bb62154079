import type { RiskAnswer } from '../risk/risk.ts';

/** What was checked before a code was sent, as its row keeps it. */
export interface Precheck {
  /** The assurance profile whose rules the start kept. */
  profile: string | null;
  risk: RiskAnswer | null;
}

const none = '-';

/** Words with a space between; null where nothing was checked. */
export function toPrecheckCell({ profile, risk }: Precheck): string | null {
  if (profile === null && risk === null) return null;
  return [profile, risk?.decision, risk?.source, risk?.reason].map((word) => word ?? none).join(' ');
}

export function readPrecheckCell(cell: string | null): Precheck {
  const [profile, decision, source, reason] = (cell ?? '').split(' ').map((word) => (word === none ? null : word));
  const risk = decision && source ? ({ decision, source, reason: reason ?? null } as RiskAnswer) : null;
  return { profile: profile || null, risk };
}

/** The profile if all its rules held: the risk check itself must have answered, and not the setting for its failures. */
export function heldProfile({ profile, risk }: Precheck): string | null {
  return risk?.decision === 'allow' && risk.source !== 'failure' ? profile : null;
}

/**
 * The cell after another send: the newest answer of the risk check, and the profile only if its rules held for every send.
 */
export function afterResend(before: string | null, now: string | null): string | null {
  if (before === now) return before;
  const newest = readPrecheckCell(now);
  const held = heldProfile(readPrecheckCell(before));
  return toPrecheckCell({ ...newest, profile: held === newest.profile ? held : null });
}

/** A sentence for the timeline of a verification. */
export function riskSentence({ decision, reason, source }: RiskAnswer, sends: 'start' | 'step' = 'start'): string {
  const because = reason === null ? '' : ` (${reason})`;
  if (source === 'failure') return `The risk check gave no answer${because}; the settings ${decision} the ${sends}`;
  const kept = source === 'cache' ? ', an answer of the last minute' : '';
  return `The risk check ${decision === 'allow' ? 'allowed' : 'blocked'} the number${because}${kept}`;
}
