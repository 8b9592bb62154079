import { type Clock, toTimestamp } from '../../platform/clock.ts';
import type { Pdu } from '../../smpp/pdu.ts';
import { statusWords } from '../../smpp/submit-errors.ts';
import { shownCarrierId } from '../carrier/id.ts';
import { type KeptReceipt, keepReceipt, readKeptReceipt } from './logged-receipt.ts';

const kept = 200;

/** What operators see of a PDU: no text, no secret, no number. */
export interface PduLogEntry {
  at: string;
  direction: 'in' | 'out';
  command: string;
  status: number;
  sequence: number;
  message_id: string | null;
  carrier_message_id: string | null;
  /** The last three digits of the phone's number. */
  number_ends: string | null;
  /** The error of an answer, or the state and error of a receipt, in the carrier's own words. */
  reported: string | null;
}

/** The last 200 PDUs of a bind, over all of its sessions. */
export interface PduLog {
  record(direction: 'in' | 'out', pdu: Pdu, messageId?: string | null): void;
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
