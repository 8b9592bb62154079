import type { Verification } from '../api/record-types.ts';

/** The verification that a developer tries out, kept while the page is. */
export interface Trial {
  /** Of the verification; empty before there is one. */
  id: string;
  code: string;
  /** Its record in the newest answer. */
  outcome: Outcome | undefined;
}

export type Outcome = Verification & { valid?: boolean };
