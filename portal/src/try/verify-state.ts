import type { Verification } from '../api/record-types.ts';

/** The verification on the Try it page. */
export interface VerifyState {
  /** Id of the verification; empty before the first start. */
  id: string;
  code: string;
  /** The record in the latest response. */
  outcome: Outcome | undefined;
}

export type Outcome = Verification & {
  valid?: boolean;
  /** What the person has to text; only in a start's answer. */
  inbound?: { number: string; text: string };
};
