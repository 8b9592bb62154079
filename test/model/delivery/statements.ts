import { claimTexts, giveBackClaim, releaseClaims } from './claim-statements.ts';
import { applyReceipt, rematchReceipt } from './receipt-statements.ts';
import { recordClaim, recordLateAnswers } from './result-statements.ts';
import {
  cancelText,
  dropPartition,
  endVerification,
  expireWaiting,
  moveTexts,
  queueDue,
} from './waiting-statements.ts';

/** Each is one statement or one transaction of the product: nothing can happen in its middle. */
export const statements = {
  claimTexts,
  giveBackClaim,
  releaseClaims,
  recordClaim,
  recordLateAnswers,
  queueDue,
  expireWaiting,
  cancelText,
  endVerification,
  moveTexts,
  applyReceipt,
  rematchReceipt,
  dropPartition,
};

export type Statements = typeof statements;

/** A statement that a step has run, for the test that runs the same on a real Postgres. */
export type Ran = {
  [Name in keyof Statements]: { statement: Name; given: Parameters<Statements[Name]>[1] };
}[keyof Statements];
