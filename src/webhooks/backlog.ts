import type { StoredEvent, ToldEvent } from '../events/event.ts';
import { findEvents, readEvents } from '../events/event-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { findDelivered, findDue } from './delivery-store.ts';
import type { ClaimedCourse } from './lease-store.ts';
import type { WebhookTarget } from './store.ts';
import type { Delivery } from './webhook.ts';

/** A delivery whose next attempt can be made. */
export interface Pending {
  delivery: Delivery;
  event: ToldEvent;
  /** It has no row yet. */
  isNew: boolean;
}

export interface BacklogOptions {
  database: Database;
  clock: Clock;
  claimed: ClaimedCourse;
  target: WebhookTarget;
  /** How far events can be read. */
  horizon: () => number;
  tell: (tx: Tx, events: StoredEvent[]) => Promise<ToldEvent[]>;
  /** Turns a piece of a replay into due deliveries. Returns false if there is no replay. */
  queueReplayed: () => Promise<boolean>;
}

/** What a webhook has still to be told: new events, and deliveries that are due again. The two take turns. */
export type Backlog = ReturnType<typeof createBacklog>;

const readAtOnce = 200;
const dueAtOnce = 50;
/** New events are read when fewer than this are left. */
const fewNew = 60;

export function createBacklog({ database, clock, claimed, target, horizon, tell, queueReplayed }: BacklogOptions) {
  const { webhookId } = claimed;
  const fresh: Pending[] = [];
  const due: Pending[] = [];
  /** Due deliveries that were taken, until they are recorded. */
  const busy = new Set<number>();
  /** Those that were recorded while due ones were read: the read may show them as they were before. */
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
    const told = await tell(database, events);
    events.forEach(({ position }, index) => {
      const event = told[index];
      if (event === undefined) return;
      open.push(position);
      fresh.push({ isNew: true, event, delivery: firstDelivery(webhookId, position) });
    });
    readTo = Math.max(readTo, page.readTo);
    // What is written meanwhile is for the next claim, else a webhook that wants none of it would never be given back.
    isReadUp = page.events.length === 0 && readTo >= span.upTo;
  }

  /** Returns deliveries whose event is not kept any more. */
  async function readDue(): Promise<Delivery[]> {
    recent.clear();
    const found = await findDue(database, webhookId, clock.nowMs(), dueAtOnce + busy.size);
    const deliveries = found.filter(({ position }) => !busy.has(position) && !recent.has(position));
    const positions = deliveries.map(({ position }) => position);
    const stored = await findEvents(database, target.applicationId, positions);
    const told = await tell(database, stored);
    const events = new Map(stored.map(({ position }, index) => [position, told[index]]));
    const lost: Delivery[] = [];
    for (const delivery of deliveries) {
      const event = events.get(delivery.position);
      busy.add(delivery.position);
      if (event === undefined) lost.push(delivery);
      else due.push({ isNew: false, event, delivery });
    }
    mayBeDue = deliveries.length >= dueAtOnce || (deliveries.length === 0 && (await queueReplayed()));
    return lost;
  }

  const wantsNew = (mayTryNew: boolean) => mayTryNew && !isReadUp && fresh.length < fewNew;
  const wantsDue = () => mayBeDue && due.length === 0;

  return {
    /** Looks for new events and due deliveries again. */
    look(): void {
      mayBeDue = true;
      isReadUp = false;
    },
    wants: (mayTryNew: boolean): boolean => wantsNew(mayTryNew) || wantsDue(),
    /** Reads what is wanted. Returns deliveries whose event is not kept any more. */
    async fill(mayTryNew: boolean): Promise<Delivery[]> {
      const lost = wantsDue() ? await readDue() : [];
      if (wantsNew(mayTryNew)) await readNew();
      return lost;
    },
    take(mayTryNew: boolean): Pending | undefined {
      dueTurn = !dueTurn;
      const first = dueTurn ? due.shift() : undefined;
      return first ?? (mayTryNew ? fresh.shift() : undefined) ?? due.shift();
    },
    hasMore: (mayTryNew: boolean): boolean => due.length > 0 || (mayTryNew && fresh.length > 0),
    /** Its delivery is in what is recorded next. */
    settle(position: number): void {
      if (!busy.has(position)) settled.add(position);
    },
    /** Its delivery is recorded. */
    confirm(position: number): void {
      if (busy.delete(position)) recent.add(position);
    },
    /** Every new event up to here is settled. */
    settledTo(): number {
      while (open[0] !== undefined && settled.delete(open[0])) open.shift();
      return open[0] === undefined ? readTo : open[0] - 1;
    },
  };
}

function firstDelivery(webhookId: string, position: number): Delivery {
  return { webhookId, position, status: 'waiting', attemptCount: 0, attempts: [], nextAttemptAtMs: null };
}
