// Tests: test/smpp/session.test.ts
import type { Clock } from '../platform/clock.ts';
import { minuteMs } from '../platform/clock.ts';
import type { DataPdu, DeliverPdu } from './pdu.ts';

export type Delivery = DeliverPdu | DataPdu;

/** Maximum number of receipts and texts being written: with more, the session stops reading. */
const mostUnwritten = 100;
const fewUnwritten = 50;
/** A handler that takes longer has failed. */
const handledWithinMs = minuteMs;

/** The receipts and texts of a session that are being written: each is answered only afterwards. */
export interface Deliveries {
  readonly open: number;
  /** True when the session should stop reading. */
  readonly tooMany: boolean;
  take(delivery: Delivery): void;
  /** Whether a delivery has been open for too long. */
  isOverdue(nowMs: number): boolean;
}

export interface DeliveriesOptions {
  clock: Clock;
  /** Writes the delivery, and resolves to the command_status of the answer. */
  handle: (delivery: Delivery) => Promise<number>;
  answer: (delivery: Delivery, status: number) => void;
  /** The delivery could not be written, so it must not be answered. */
  onFailed: () => void;
  onChange: () => void;
}

export function createDeliveries({ clock, handle, answer, onFailed, onChange }: DeliveriesOptions): Deliveries {
  /** In the order of their arrival. */
  const open = new Map<object, number>();
  let tooMany = false;

  function end(key: object): void {
    open.delete(key);
    if (open.size <= fewUnwritten) tooMany = false;
    onChange();
  }

  return {
    get open() {
      return open.size;
    },
    get tooMany() {
      return tooMany;
    },
    take(delivery) {
      const key = {};
      open.set(key, clock.steadyMs());
      if (open.size > mostUnwritten) tooMany = true;
      // A handler that throws at once has failed like one that rejects.
      const handled = (async () => handle(delivery))();
      handled.then(
        (status) => {
          answer(delivery, status);
          end(key);
        },
        () => {
          onFailed();
          end(key);
        },
      );
    },
    isOverdue(nowMs) {
      for (const sinceMs of open.values()) return nowMs - sinceMs >= handledWithinMs;
      return false;
    },
  };
}
