import type { BindState } from './bind-store.ts';
import type { Carrier } from './carrier.ts';
import type { CarrierFacts } from './configured.ts';
import type { LogEntry } from './log-store.ts';
import type { ClaimedTest, TestStep } from './test-store.ts';

/** A carrier that an operator has configured, as a worker runs it. */
export interface RunningCarrier<Configured extends CarrierFacts = CarrierFacts> extends Carrier {
  /** A paused carrier sends nothing, and still takes receipts. */
  setPaused(paused: boolean): void;
  /** Takes settings that need no new connection (see `isOver` of setup). */
  update(configured: Configured): void;
  /** Ends every wait for the next try to connect. */
  tryNow(): void;
  /** The slots that this node holds. */
  binds(): BindState[];
  /** A hint for the operator, if receipts would match under other settings. */
  readonly hint: string | null;
  /** What the text of a receipt with this id may be called. */
  receiptKeys(carrierMessageId: string): string[];
  /** The newest PDUs, oldest first. */
  readLog(): LogEntry[];
  /** Tries the carrier step by step, and sends one text. */
  runTest(test: ClaimedTest, onStep: (step: TestStep) => Promise<void>): Promise<void>;
}
