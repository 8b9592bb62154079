// Tests: src/smpp/receipt-errors.test.ts
import { type DeclaredErrors, receiptErrorOf } from './receipt-errors.ts';

/** The states of receipts, by their word in the text and by the number of the TLV message_state. */
const states: Record<string, string> = {
  ENROUTE: 'on its way',
  1: 'on its way',
  DELIVRD: 'delivered',
  2: 'delivered',
  EXPIRED: 'expired at the carrier',
  3: 'expired at the carrier',
  DELETED: 'deleted by the carrier',
  4: 'deleted by the carrier',
  UNDELIV: 'undelivered',
  5: 'undelivered',
  ACCEPTD: 'accepted by hand',
  6: 'accepted by hand',
  UNKNOWN: 'state unknown',
  7: 'state unknown',
  REJECTD: 'rejected by the carrier',
  8: 'rejected by the carrier',
};

/** The errors of MAP (3GPP TS 29.002), which GSM networks report. */
const gsmErrors: Record<number, string> = {
  1: 'unknown subscriber',
  5: 'unidentified subscriber',
  6: 'absent subscriber',
  8: 'roaming not allowed',
  9: 'illegal subscriber',
  11: 'no SMS in the subscription',
  12: 'illegal equipment',
  13: 'barred',
  21: 'facility not supported',
  27: 'absent subscriber',
  28: 'incompatible phone',
  31: 'subscriber busy',
  32: 'delivery failure, memory of the phone full',
  33: 'waiting list full',
  34: 'system failure',
  35: 'data missing',
  36: 'unexpected data',
  51: 'resource limitation',
};
const gsmNetwork = 3;

/**
 * What the words of a receipt, like `stat:UNDELIV err:069 network_error_code:3/27`, mean as far as that is known. Null for
 * other words.
 */
export function receiptMeaning(words: string, errors: DeclaredErrors): string | null {
  const read = (name: string) => new RegExp(`(?:^| )${name}:(\\S+)`).exec(words)?.[1];
  const state = states[read('stat')?.toUpperCase() ?? ''] ?? states[read('message_state') ?? ''];
  const [type, code] = (read('network_error_code') ?? '').split('/').map(Number);
  const network = type === undefined || code === undefined ? null : { type, code };
  const gsm = network?.type === gsmNetwork ? gsmErrors[network.code] : undefined;
  const ours = receiptErrorOf({ code: read('err') ?? null, network }, 'undelivered', errors);
  const known = state === 'delivered' || ours === 'unknown' || ours === null ? undefined : ours.replaceAll('_', ' ');
  const parts = [state, gsm, known].filter((part) => part !== undefined);
  return parts.length === 0 ? null : parts.join(', ');
}
