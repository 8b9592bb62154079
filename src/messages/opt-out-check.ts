import type { Tx } from '../platform/database/database.ts';
import type { Message } from './message.ts';

/** Finds messages to people who opted out. Acceptance calls it before it writes a batch. */
export interface OptOutCheck {
  /** True while this node has seen no recent opt-out: acceptance then writes by a statement that verifies it. */
  none(): boolean;
  /** Notes that an opt-out exists: `none` is then false for a while. */
  noteSome(): void;
  /** The ids of the messages whose recipient has opted out. One query for a batch of up to 500. */
  find(tx: Tx, messages: readonly Message[]): Promise<ReadonlySet<string>>;
}

/** For an installation without opt-outs. */
export const noOptOuts: OptOutCheck = { none: () => true, noteSome() {}, find: async () => new Set() };
