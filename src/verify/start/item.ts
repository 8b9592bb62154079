import type { AnswerToKeep } from '../../platform/database/idempotency.ts';
import type { Woken } from '../../platform/work/wake-list.ts';
import type { InboundRequest } from '../inbound/request-text.ts';
import type { Verification } from '../verification.ts';
import type { toVerificationRecord } from '../verification-record.ts';
import type { StartRequest } from './decision.ts';

/** The verification that a start wrote or continued, and the record to return. */
export interface StartAnswer {
  verification: Verification;
  record: ReturnType<typeof toVerificationRecord> & { inbound?: InboundRequest };
  /** The carriers to wake because of this start; undefined if any may have its text. */
  carriers: Woken;
}

export interface StartItem {
  request: StartRequest;
  /** Turns the record into the answer stored for an idempotency key; both commit together. */
  keep: (answer: StartAnswer) => AnswerToKeep | undefined;
  key: string | undefined;
}
