import type { Pdu } from './pdu.ts';

/** Takes every PDU of a session, for the log that operators read. */
export interface PduRecorder {
  record(direction: 'in' | 'out', pdu: Pdu, messageId?: string | null): void;
}
