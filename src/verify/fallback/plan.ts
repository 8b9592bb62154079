import type { SendingChannel } from '../../messages/channel.ts';
import type { RiskAnswer } from '../risk/risk.ts';
import type { VerificationTemplate } from '../texts/verification-text.ts';
import type { BlockReason } from '../verification.ts';

/** A further send of the code, as the start asked for it. The application's rights are read when the step is taken. */
export interface FallbackStep {
  channel: SendingChannel;
  /** How long after the previous send this step waits for an approval. */
  afterSeconds: number;
  template: VerificationTemplate;
}

/** Stored while a verification waits for its next step. */
export interface FallbackPlan {
  steps: readonly FallbackStep[];
  /** The assurance profile of the start. Plans of an earlier version have none, and their proofs name none. */
  profile?: string | null;
}

/** Why a step was not taken. */
export type SkipReason = BlockReason | 'no_carrier' | 'unroutable' | 'too_many_sends';

/** The result of a step, for the timeline of the verification. */
export interface TakenStep {
  atMs: number;
  channel: SendingChannel;
  /** The send before it failed for good, or was not approved in time. */
  because: 'failed' | 'not_approved';
  afterSeconds: number;
  /** Set if nothing was sent. */
  skipped?: SkipReason;
  /** Set if the risk check blocked the step, which ends the fallback. */
  risk?: RiskAnswer;
}

/** A step whose time has come. */
export interface DueStep {
  verificationId: string;
  /** The index of the step in the plan. */
  index: number;
  /** The text whose result the plan waits for; a later start replaces it. */
  awaited: string | null;
  because: TakenStep['because'];
  plan: FallbackPlan;
}
