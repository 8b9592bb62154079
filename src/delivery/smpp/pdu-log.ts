// Tests: test/smpp/bind-supervisor.test.ts
import { type Clock, toTimestamp } from '../../platform/clock.ts';
import type { Pdu } from '../../smpp/pdu.ts';
import type { PduRecorder } from '../../smpp/pdu-recorder.ts';
import { statusWords } from '../../smpp/submit-errors.ts';
import { shownCarrierId } from '../carrier/id.ts';
import type { PduLogEntry } from '../carrier/log-store.ts';
import { type KeptReceipt, keepReceipt, readKeptReceipt } from './logged-receipt.ts';

const kept = 200;

/** The last 200 PDUs of a bind, over all of its sessions. */
export interface PduLog extends PduRecorder {
  /** The oldest first. */
  entries(): PduLogEntry[];
}

export function createPduLog(clock: Clock): PduLog {
  const ring: (Omit<PduLogEntry, 'at' | 'reported'> & { atMs: number; receipt: KeptReceipt | undefined })[] = [];
  let recorded = 0;

  return {
    record(direction, pdu, messageId = null) {
      ring[recorded++ % kept] = {
        atMs: clock.nowMs(),
        direction,
        command: pdu.command === 'unknown' ? `0x${pdu.commandId.toString(16).padStart(8, '0')}` : pdu.command,
        status: pdu.status,
        sequence: pdu.sequence,
        message_id: messageId,
        carrier_message_id: pdu.command === 'submit_sm_resp' ? shownCarrierId(pdu.messageId) : null,
        number_ends: lastDigits(pdu),
        receipt: pdu.command === 'deliver_sm' || pdu.command === 'data_sm' ? keepReceipt(pdu) : undefined,
      };
    },
    entries() {
      const oldest = recorded > kept ? recorded % kept : 0;
      return [...ring.slice(oldest), ...ring.slice(0, oldest)].map(({ atMs, receipt, ...entry }) => {
        const read = receipt && readKeptReceipt(receipt);
        return {
          at: toTimestamp(atMs),
          ...entry,
          carrier_message_id: read?.id ?? entry.carrier_message_id,
          reported: entry.status === 0 ? (read?.words ?? null) : statusWords(entry.status),
        };
      });
    },
  };
}

function lastDigits(pdu: Pdu): string | null {
  if (pdu.command === 'submit_sm') return endOf(pdu.destination);
  if (pdu.command === 'deliver_sm' || pdu.command === 'data_sm') return endOf(pdu.source);
  return null;
}

function endOf(number: string): string | null {
  const digits = number.slice(-3);
  return /^\d{3}$/.test(digits) && number.length > 3 ? digits : null;
}
