// Tests: test/parts/webhook-worker.test.ts, test/faults/webhooks.test.ts
import type { EmittedEvent, StoredEvent } from '../events/event.ts';
import { findEvents, readEvents } from '../events/event-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { findDelivered, findDue } from './delivery-store.ts';
import type { ClaimedLease } from './lease-store.ts';
import type { WebhookTarget } from './store.ts';
import type { Delivery } from './webhook.ts';

/** A delivery that is ready for its next attempt. */
export interface Pending {
  delivery: Delivery;
  event: EmittedEvent;
  /** The delivery has no row yet. */
  isNew: boolean;
  /** The trace id and span id of its subject, if that is in a sampled trace. */
  trace?: string | undefined;
}

/** A delivery that gets no further attempt. */
export interface Ended {
  delivery: Delivery;
  reason: string;
}

const excluded = 'The type of the event is no longer among the types of the webhook.';

export interface BacklogOptions {
  database: Database;
  clock: Clock;
  claimed: ClaimedLease;
  target: WebhookTarget;
  /** The position up to which events can be read. */
  horizon: () => number;
  assemble: (tx: Tx, events: StoredEvent[]) => Promise<EmittedEvent[]>;
  /** Returns the trace and span ids of their subjects, by the subject's id. Undefined unless events are traced. */
  findTraces?: ((tx: Tx, events: StoredEvent[]) => Promise<ReadonlyMap<string, string>>) | undefined;
  /** Turns a batch of a replay into due deliveries. Returns false if there is no replay. */
  queueReplayed: () => Promise<boolean>;
}

/** Undelivered events of a webhook: new ones, and deliveries that are due again. The two take turns. */
export type Backlog = ReturnType<typeof createBacklog>;

const readAtOnce = 200;
const dueAtOnce = 50;
/** Reads new events when fewer than this are left. */
const fewNew = 60;

export function createBacklog(options: BacklogOptions) {
  const { database, clock, claimed, target, horizon, assemble, findTraces, queueReplayed } = options;
  const { webhookId } = claimed;
  const fresh: Pending[] = [];
  const due: Pending[] = [];
  /** Due deliveries that were taken and are not recorded yet. */
  const busy = new Set<number>();
  /** Deliveries that were recorded while due ones were read: the read may return their earlier state. */
  const recent = new Set<number>();
  /** New events that are not recorded yet, in order. */
  const open: number[] = [];
  const settled = new Set<number>();
  let readTo = claimed.position;
  let isReadUp = false;
  let mayBeDue = true;
  let dueTurn = false;

  async function readNew(): Promise<void> {
    const span = { applicationId: target.applicationId, after: readTo, upTo: horizon() };
    const types = target.types.length === 0 ? undefined : target.types;
    const page = await readEvents(database, span, { types }, readAtOnce);
    const delivered =
      (claimed.deliveredTo ?? 0) > readTo ? await findDelivered(database, webhookId, readTo, page.readTo) : undefined;
    const events = page.events.filter(({ position }) => delivered?.has(position) !== true);
    const assembled = await assemble(database, events);
    const traces = await findTraces?.(database, events);
    events.forEach(({ position }, index) => {
      const event = assembled[index];
      if (event === undefined) return;
      open.push(position);
      const delivery = firstDelivery(webhookId, position);
      fresh.push({ isNew: true, event, delivery, trace: traces?.get(event.subject) });
    });
    readTo = Math.max(readTo, page.readTo);
    // Events written meanwhile wait for the next claim, else a webhook that filters them out would never be given back.
    isReadUp = page.events.length === 0 && readTo >= span.upTo;
  }

  const isWanted = ({ type }: EmittedEvent) => target.types.length === 0 || target.types.some((each) => each === type);

  async function readDue(): Promise<Ended[]> {
    recent.clear();
    const found = await findDue(database, webhookId, clock.nowMs(), dueAtOnce + busy.size);
    const deliveries = found.filter(({ delivery: { position } }) => !busy.has(position) && !recent.has(position));
    const positions = deliveries.map(({ delivery }) => delivery.position);
    const stored = await findEvents(database, target.applicationId, positions);
    const assembled = await assemble(database, stored);
    const traces = await findTraces?.(database, stored);
    const events = new Map(stored.map(({ position }, index) => [position, assembled[index]]));
    const ended: Ended[] = [];
    for (const { delivery, isReplayed } of deliveries) {
      const event = events.get(delivery.position);
      busy.add(delivery.position);
      if (event === undefined) ended.push({ delivery, reason: 'The event is no longer kept.' });
      else if (!isReplayed && !isWanted(event)) ended.push({ delivery, reason: excluded });
      else due.push({ isNew: false, event, delivery, trace: traces?.get(event.subject) });
    }
    mayBeDue = deliveries.length >= dueAtOnce || (deliveries.length === 0 && (await queueReplayed()));
    return ended;
  }

  const wantsNew = (mayTryNew: boolean) => mayTryNew && !isReadUp && fresh.length < fewNew;
  const wantsDue = () => mayBeDue && due.length === 0;

  return {
    /** Makes the next fill read new events and due deliveries again. */
    poll(): void {
      mayBeDue = true;
      isReadUp = false;
    },
    wants: (mayTryNew: boolean): boolean => wantsNew(mayTryNew) || wantsDue(),
    /** Reads what is wanted. Returns deliveries that get no further attempt. */
    async fill(mayTryNew: boolean): Promise<Ended[]> {
      const ended = wantsDue() ? await readDue() : [];
      if (wantsNew(mayTryNew)) await readNew();
      return ended;
    },
    take(mayTryNew: boolean): Pending | undefined {
      dueTurn = !dueTurn;
      const first = dueTurn ? due.shift() : undefined;
      return first ?? (mayTryNew ? fresh.shift() : undefined) ?? due.shift();
    },
    hasMore: (mayTryNew: boolean): boolean => due.length > 0 || (mayTryNew && fresh.length > 0),
    /** The delivery of this event is part of the next record. */
    settle(position: number): void {
      if (!busy.has(position)) settled.add(position);
    },
    /** The delivery of this event is recorded. */
    confirm(position: number): void {
      if (busy.delete(position)) recent.add(position);
    },
    /** Up to this position all new events are settled. */
    settledTo(): number {
      while (open[0] !== undefined && settled.delete(open[0])) open.shift();
      return open[0] === undefined ? readTo : open[0] - 1;
    },
  };
}

function firstDelivery(webhookId: string, position: number): Delivery {
  return { webhookId, position, status: 'waiting', attemptCount: 0, attempts: [], nextAttemptAtMs: null };
}
