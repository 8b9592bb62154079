import type { Tx } from '../platform/database/database.ts';
import type { Message } from './message.ts';

/** Tells which messages go to people who do not want them. Acceptance asks it before it writes a batch. */
export interface OptOutCheck {
  /** True while this node has seen no opt-out lately: acceptance then writes by a statement that makes sure of it. */
  none(): boolean;
  /** There is an opt-out after all. */
  noteSome(): void;
  /** The ids of the messages whose recipient has opted out. One query for a batch of up to 500. */
  find(tx: Tx, messages: readonly Message[]): Promise<ReadonlySet<string>>;
}

/** For an installation without opt-outs. */
export const noOptOuts: OptOutCheck = { none: () => true, noteSome() {}, find: async () => new Set() };
