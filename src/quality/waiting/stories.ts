// Tests: test/contract/operator-deliveries.test.ts

import { findWaits, type WaitingEntry } from '../../delivery/queue/waits.ts';
import type { KnownCarrier } from '../../delivery/routing/directory.ts';
import { route as routeOf } from '../../delivery/routing/routing.ts';
import type { RouteTable } from '../../delivery/routing/table.ts';
import type { TimelineEvent } from '../../http/timeline.ts';
import { carrierNameOf, type MessageStatus, unsentStatuses } from '../../messages/message.ts';
import { routedCountryOf } from '../../messages/numbers/phone-number.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Wait, type WaitFacts, waitOf } from './reason.ts';

export interface WaitStoriesOptions {
  database: Database;
  clock: Clock;
  carriers: () => readonly KnownCarrier[];
  table: () => RouteTable;
}

/** Why texts wait. */
export interface WaitStories {
  /** By message id; a text that does not wait has none. */
  find(messageIds: string[], tx?: Tx): Promise<Map<string, Wait>>;
  /** The facts of a text that is known to wait. */
  factsOf(entry: WaitingEntry): WaitFacts;
}

/** The carrier of the virtual handsets has no settings and no state. */
const sandboxKey = 'sandbox';

export function createWaitStories({ database, clock, carriers, table }: WaitStoriesOptions): WaitStories {
  function isUnroutable({ id, to, sender, api, applicationId }: WaitingEntry): boolean {
    if (table().routes.length === 0 || !to.startsWith('+') || to.includes('•')) return false;
    const facts = { messageId: id, to, country: routedCountryOf(to), from: sender, api, applicationId };
    const more = { urgent: true, isCode: api === 'verify', senderCarriers: null, used: [], nowMs: clock.nowMs() };
    return routeOf({ ...facts, ...more }, table(), carriers()).outcome === 'unroutable';
  }

  function factsOf(entry: WaitingEntry): WaitFacts {
    const { place, attempt, inDoubt, sendAtMs, deferredUntilMs, zone, lastOutcome } = entry;
    const carrierName = carrierNameOf(entry.carrier);
    const carrier = entry.carrier === sandboxKey ? null : carriers().find(({ key }) => key === entry.carrier);
    const of = { place, attempt, inDoubt, sendAtMs, deferredUntilMs, zone, lastOutcome };
    return { nowMs: clock.nowMs(), ...of, carrierName, carrier, unroutable: carrier !== null && isUnroutable(entry) };
  }

  return {
    factsOf,
    async find(messageIds, tx = database) {
      if (messageIds.length === 0) return new Map();
      const entries = await findWaits(tx, messageIds);
      return new Map(entries.map((entry) => [entry.id, waitOf(factsOf(entry))]));
    },
  };
}

/** A text that no carrier has accepted yet. */
export function isWaiting({ status }: { status: MessageStatus }): boolean {
  return unsentStatuses.includes(status);
}

/** The last events of a timeline: why its texts wait. Equal reasons appear once. Only operators see carriers' names. */
export function waitEvents(
  waits: Map<string, Wait>,
  nowMs: number,
  reader: 'forDevelopers' | 'forOperators' = 'forDevelopers',
): TimelineEvent[] {
  const sentences = new Set([...waits.values()].map((wait) => wait[reader]));
  return [...sentences].map((detail) => ({ atMs: nowMs, event: 'waiting', detail }));
}
