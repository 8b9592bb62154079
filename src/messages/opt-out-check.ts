import type { Tx } from '../platform/database.ts';
import type { Message } from './message.ts';

/** Tells which messages go to people who do not want them. Acceptance asks it before it writes a batch. */
export interface OptOutCheck {
  /** True only while it is certain that no opt-out exists at all: then acceptance does not ask Postgres. */
  none(): boolean;
  /** The ids of the messages whose recipient has opted out. One query for a batch of up to 500. */
  find(tx: Tx, messages: readonly Message[]): Promise<ReadonlySet<string>>;
}

/** For an installation without opt-outs. */
export const noOptOuts: OptOutCheck = { none: () => true, find: async () => new Set() };
