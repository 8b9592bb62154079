// Tests: test/smpp-server/receipts.test.ts

import type { ShownMessage } from '../messages/message.ts';
import type { MessageKey } from '../messages/message-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import type { Log } from '../platform/log.ts';
import { createSharedWrites } from '../platform/work/shared-writes.ts';
import { createWakeableSleep } from '../platform/work/wakeable-sleep.ts';
import { type SubmitFields, statuses } from '../smpp/pdu.ts';
import type { Bind } from './bind.ts';
import {
  type Again,
  claimDeliveries,
  type Delivery,
  deleteDeliveries,
  readNewest,
  releaseDeliveries,
  type Wanted,
} from './delivery-store.ts';
import type { Peer } from './peer.ts';
import { errorNumberOf, incompleteError, toInboundPdu, toReceiptPdu } from './receipt-pdu.ts';

export interface InboundRecord {
  id: string;
  from: string;
  to: string;
  body: string | null;
}

export interface DeliveriesOptions {
  database: Database;
  clock: Clock;
  log: Log;
  findMessages: (keys: MessageKey[]) => Promise<(ShownMessage | undefined)[]>;
  findInbound: (ids: string[]) => Promise<InboundRecord[]>;
  /** The pause while there is nothing to send; shorter in tests. */
  pollMs?: number;
}

interface Receiver {
  bind: Bind;
  peer: Peer;
}

/** The pause between two claims while there is something to send. */
const busyMs = 20;
/**
 * After N polls that found nothing, a poll only asks whether there is something new, which costs the same for any
 * number of accounts. Every N polls it claims all the same, for what becomes due by time or was committed late.
 */
const eagerPolls = 20;
/** Owners of one claim; with more receivers they take turns. */
const mostOwners = 200;
/** Texts of one claim that one account gets, so that no backlog delays the others. */
const mostOfOwner = 100;
/** The wait after the records of claimed deliveries could not be read. */
const retryMs = 1000;
/** The waits after attempts that were refused or unanswered. */
const waitsMs = [1000, 5000, 30_000, 120_000, 600_000];

/**
 * Sends receipts and texts from phones to the receivers of this process. No other process sends a delivery that is claimed
 * here. An acknowledged delivery is deleted; any other is due again.
 */
export function createDeliveries(options: DeliveriesOptions) {
  const { database, clock, log, findMessages, findInbound, pollMs = 250 } = options;
  const receivers = new Map<string, Receiver[]>();
  const sleep = createWakeableSleep();
  const acknowledged = createSharedWrites<number>({
    mostPerWrite: 500,
    write: (ids) => deleteDeliveries(database, ids),
  });
  const released = createSharedWrites<Again>({
    mostPerWrite: 500,
    write: (again) => releaseDeliveries(database, again),
  });
  /** Deliveries that were acknowledged while Postgres was away: this process must not send them again. */
  const owed = new Set<number>();
  let turn = 0;
  /** Polls since there was last something to do, and the newest number of a delivery that a poll has read. */
  let quiet = 0;
  let newest: number | undefined;
  let running: Promise<void> | undefined;
  let isHeldUp = false;

  /** The accounts and applications whose receivers here have room. If there are too many for one claim, they take turns. */
  function takeTurn(): Wanted[] {
    const ids = [...receivers.keys()];
    const from = ids.length <= mostOwners ? 0 : turn % ids.length;
    turn = from + mostOwners;
    const rooms = new Map<string, number>();
    for (let at = 0; at < Math.min(mostOwners, ids.length); at++) {
      const of = receivers.get(ids[(from + at) % ids.length] ?? '') ?? [];
      let room = 0;
      for (const { peer } of of) room += peer.room;
      const [first] = of;
      if (first === undefined || room === 0) continue;
      const { account } = first.bind;
      rooms.set(uuidOf(account.id), Math.min(room, mostOfOwner));
      const application = uuidOf(account.applicationId);
      rooms.set(application, Math.min((rooms.get(application) ?? 0) + room, mostOfOwner));
    }
    return [...rooms].map(([owner, room]) => ({ owner, room }));
  }

  /** The receiver with the most room, of the account or of any of the application's. */
  function receiverFor(delivery: Delivery): Receiver | undefined {
    let best: Receiver | undefined;
    const consider = (each: Receiver) => {
      if (each.peer.room > (best?.peer.room ?? 0)) best = each;
    };
    if (delivery.kind !== 'inbound')
      for (const each of receivers.get(fromUuid('smp', delivery.owner)) ?? []) consider(each);
    else
      for (const of of receivers.values())
        if (of[0]?.bind.account.applicationId === delivery.applicationId) for (const each of of) consider(each);
    return best;
  }

  async function pdusOf(claimed: Delivery[]): Promise<Map<number, SubmitFields>> {
    const receipts = claimed.filter(({ kind }) => kind === 'receipt');
    const keys = receipts.map(
      ({ applicationId, subject }): MessageKey => ({ applicationId, api: 'sms', id: fromUuid('msg', subject) }),
    );
    const messages = keys.length === 0 ? [] : await findMessages(keys);
    const inbound = claimed.filter(({ kind }) => kind === 'inbound').map(({ subject }) => fromUuid('inb', subject));
    const texts = new Map((inbound.length === 0 ? [] : await findInbound(inbound)).map((text) => [text.id, text]));
    const pdus = new Map<number, SubmitFields>();
    receipts.forEach((delivery, index) => {
      const message = messages[index];
      if (message !== undefined) pdus.set(delivery.id, receiptOf(delivery, message));
    });
    for (const delivery of claimed) {
      const text = delivery.kind === 'inbound' ? texts.get(fromUuid('inb', delivery.subject)) : undefined;
      if (text !== undefined) pdus.set(delivery.id, toInboundPdu({ ...text, body: text.body ?? '' }));
      if (delivery.kind === 'unsent' && delivery.detail !== null) pdus.set(delivery.id, unsentReceiptOf(delivery));
      if (delivery.kind === 'test') pdus.set(delivery.id, testReceipt);
    }
    return pdus;
  }

  function send(delivery: Delivery, pdu: SubmitFields, { bind, peer }: Receiver): void {
    peer.deliver(pdu, (answer) => {
      if (answer === statuses.ok || answer === statuses.permanentReceiverError) {
        bind.delivered++;
        forget(delivery.id);
      } else release([delivery], answer === 'closed' ? 0 : undefined);
      sleep.wake();
    });
  }

  function forget(...ids: number[]): void {
    acknowledged(ids, undefined).catch(() => {
      for (const id of ids) owed.add(id);
    });
  }

  function release(deliveries: Delivery[], waitMs?: number): void {
    const again = deliveries.map(({ id, attempts }) => ({
      id,
      dueAtMs: clock.nowMs() + (waitMs ?? waitsMs[Math.min(attempts, waitsMs.length) - 1] ?? 1000),
    }));
    // If this write fails, the lease expires by itself.
    released(again, undefined).catch(() => {});
  }

  async function claim(): Promise<number> {
    if (owed.size > 0) {
      const ids = [...owed];
      await deleteDeliveries(database, ids);
      for (const id of ids) owed.delete(id);
    }
    const wanted = takeTurn();
    if (wanted.length === 0) return 0;
    const claimed = await claimDeliveries(database, wanted, clock.nowMs());
    if (claimed.length === 0) return 0;
    const pdus = await pdusOf(claimed).catch((error: unknown) => {
      // Released early: most outages are shorter than the lease.
      release(claimed, retryMs);
      throw error;
    });
    const unsent: Delivery[] = [];
    for (const delivery of claimed) {
      const pdu = pdus.get(delivery.id);
      const receiver = receiverFor(delivery);
      // Its record was deleted: no receiver needs it.
      if (pdu === undefined) forget(delivery.id);
      else if (receiver === undefined) unsent.push(delivery);
      else send(delivery, pdu, receiver);
    }
    if (unsent.length > 0) release(unsent, 0);
    return claimed.length - unsent.length;
  }

  /** Claims what is due, if anything may be. */
  async function poll(): Promise<number> {
    quiet++;
    if (quiet > eagerPolls && quiet % eagerPolls !== 0) {
      const before = newest;
      newest = await readNewest(database);
      if (newest === before) return 0;
      quiet = 0;
    }
    const sent = await claim();
    if (sent > 0) quiet = 0;
    return sent;
  }

  async function work(): Promise<void> {
    while (!sleep.stopped && receivers.size > 0) {
      const seen = sleep.wakes;
      let sent = 0;
      try {
        sent = await poll();
        isHeldUp = false;
      } catch (error) {
        if (!isHeldUp) log.warn({ reason: (error as Error).message }, 'SMPP receipts cannot be read; will retry');
        isHeldUp = true;
      }
      await sleep.ignoringWakes(busyMs);
      if (sent === 0 && sleep.wakes === seen) await sleep.untilWoken(quiet > eagerPolls ? 2 * pollMs : pollMs);
      if (sleep.wakes !== seen) quiet = 0;
    }
    running = undefined;
  }

  return {
    add(bind: Bind, peer: Peer): void {
      if (bind.mode === 'transmitter') return;
      receivers.set(bind.account.id, [...(receivers.get(bind.account.id) ?? []), { bind, peer }]);
      running ??= work();
      sleep.wake();
    },
    remove(bind: Bind): void {
      const left = (receivers.get(bind.account.id) ?? []).filter((each) => each.bind !== bind);
      if (left.length > 0) receivers.set(bind.account.id, left);
      else receivers.delete(bind.account.id);
    },
    wake: () => sleep.wake(),
    async stop(): Promise<void> {
      sleep.stop();
      await running;
      // Waits until the last acknowledgements are written.
      await Promise.all([acknowledged([], undefined), released([], undefined)]).catch(() => {});
    },
  };
}

export type Deliveries = ReturnType<typeof createDeliveries>;

function receiptOf(delivery: Delivery, { id, to, sender, body, createdAtMs }: ShownMessage): SubmitFields {
  return toReceiptPdu({
    id: delivery.partId === null ? id : fromUuid('prt', delivery.partId),
    ...{ to, from: sender, body, submittedAtMs: createdAtMs, changedAtMs: delivery.createdAtMs },
    status: delivery.status ?? 'unknown',
    error: errorNumberOf(delivery.errorCode),
  });
}

function unsentReceiptOf({ subject, detail, createdAtMs, status }: Delivery): SubmitFields {
  return toReceiptPdu({
    id: fromUuid('prt', subject),
    to: detail?.to ?? '',
    from: detail?.from ?? '',
    submittedAtMs: detail?.createdAtMs ?? createdAtMs,
    changedAtMs: createdAtMs,
    status: status ?? 'undelivered',
    error: status === 'canceled' ? 0 : incompleteError,
    body: null,
  });
}

/** What the portal's test sends: a text from a test number. */
const testReceipt: SubmitFields = toInboundPdu({
  from: '+15005550100',
  to: 'TEST',
  body: 'Test of Heliograph: please acknowledge this deliver_sm.',
});
