import { type MessageErrorCode, messageErrorCodes, type ReceiptOutcome } from '../messages/message.ts';

type ErrorMap = ReadonlyMap<number, MessageErrorCode>;

function mapOf(codes: Partial<Record<MessageErrorCode, number[]>>): ErrorMap {
  const map = new Map<number, MessageErrorCode>();
  for (const error of messageErrorCodes) for (const code of codes[error] ?? []) map.set(code, error);
  return map;
}

export const errorMaps = ['gsm-map', 'vonage', 'twilio', '8x8', 'infobip'] as const;

/** The meaning of a carrier's codes: a known list, or a map from its own codes to our error codes. */
export type DeclaredErrors = (typeof errorMaps)[number] | Record<string, string> | null | undefined;

/** Providers give the same number different meanings, so a map is used only where the carrier's settings name it. */
const named: Record<(typeof errorMaps)[number], ErrorMap> = {
  // 3GPP TS 29.002, the errors of MAP.
  'gsm-map': mapOf({
    invalid_destination: [1, 5, 11, 21],
    unreachable: [6, 8, 27, 28, 31, 32, 33],
    blocked_by_carrier: [9, 12, 13],
    unknown: [34, 35, 36, 51],
  }),
  vonage: mapOf({
    unreachable: [2, 3, 7, 12],
    invalid_destination: [5, 9, 11],
    blocked_by_recipient: [4, 53],
    blocked_by_carrier: [6, 13, 14, 15, 54],
    content_rejected: [10, 52],
    sender_rejected: [50, 51],
    carrier_unavailable: [8, 16],
    unknown: [1, 99],
  }),
  twilio: mapOf({
    unreachable: [1, 2, 11],
    invalid_destination: [4, 5, 7, 10],
    blocked_by_carrier: [6, 8, 9],
    carrier_unavailable: [12],
    unknown: [3],
  }),
  '8x8': mapOf({
    unreachable: [1, 21, 28, 29, 32, 45, 46, 47],
    invalid_destination: [12, 15, 30, 37, 55, 59],
    content_rejected: [2, 16, 17, 38, 43, 60],
    sender_rejected: [19],
    blocked_by_recipient: [25],
    blocked_by_carrier: [8, 11, 13, 24, 26, 27, 31, 34, 41, 42, 44],
    carrier_unavailable: [10, 14, 23, 33, 35, 40, 48, 50],
    expired: [36, 51, 61],
    unknown: [3, 7, 9, 18, 20, 39, 49, 52, 53, 54, 56, 57, 58],
  }),
  // The error ids of its API; those below 256 are MAP's.
  infobip: mapOf({
    invalid_destination: [1, 5, 10, 11, 20, 21],
    unreachable: [6, 8, 27, 28, 31, 32, 33, 256, 257, 258],
    blocked_by_carrier: [9, 12, 13],
    content_rejected: [71],
    carrier_unavailable: [34, 51, 260],
    unknown: [35, 36, 255],
  }),
};

/** The failure that a receipt reports, as the carrier wrote it. */
export interface ReceiptError {
  /** `err:` of the text. */
  code: string | null;
  /** The TLV network_error_code: the kind of network, and the number. */
  network: { type: number; code: number } | null;
}

const gsmNetwork = 3;

/** Reads the TLV network_error_code: an octet for the kind of network, then 16 bits. */
export function readNetworkError(value: Uint8Array | undefined): ReceiptError['network'] {
  if (value === undefined || value.length < 3) return null;
  return { type: value[0] ?? 0, code: ((value[1] ?? 0) << 8) | (value[2] ?? 0) };
}

/**
 * Our code for a failure, null for a text that arrived. A code without a declared meaning is only shown: the text's error
 * is then `unknown`, or `expired` where the state says so.
 */
export function receiptErrorOf(
  { code, network }: ReceiptError,
  outcome: ReceiptOutcome,
  errors: DeclaredErrors,
): MessageErrorCode | null {
  if (outcome === 'delivered' || outcome === 'unknown') return null;
  const found = networkMeaning(network, errors) ?? meaningOf(code, errors);
  return found ?? (outcome === 'expired' ? 'expired' : 'unknown');
}

/** The numbers of a GSM network mean the same everywhere; those of other kinds are the carrier's. */
function networkMeaning(network: ReceiptError['network'], errors: DeclaredErrors) {
  if (network === null || network.code === 0) return undefined;
  if (network.type === gsmNetwork) return named['gsm-map'].get(network.code);
  return meaningOf(String(network.code), errors);
}

const longestCode = 16;
const digits = /^[0-9]+$/;

function meaningOf(code: string | null, errors: DeclaredErrors): MessageErrorCode | undefined {
  if (code === null || errors === null || errors === undefined || code.length > longestCode) return undefined;
  if (typeof errors === 'string') return digits.test(code) ? named[errors].get(Number(code)) : undefined;
  const wanted = plain(code);
  for (const [key, error] of Object.entries(errors).slice(0, mostErrors)) {
    if (plain(key) === wanted) return messageErrorCodes.find((known) => known === error);
  }
  return undefined;
}

/** `0006` and `6` are the same code. */
function plain(code: string): string {
  return digits.test(code) ? String(Number(code)) : code.toLowerCase();
}

const mostErrors = 256;
const errorKey = /^[A-Za-z0-9_.-]{1,10}$/;

/** Why `errors` can't be used (completes a sentence that begins with its name), or undefined. */
export function receiptErrorsProblem(errors: DeclaredErrors): string | undefined {
  if (errors === null || errors === undefined || typeof errors === 'string') return undefined;
  const entries = Object.entries(errors);
  if (entries.length > mostErrors) return `must have at most ${mostErrors} entries`;
  for (const [key, error] of entries) {
    if (!errorKey.test(key)) return `must have codes of receipts as keys, like 027, not ${JSON.stringify(key)}`;
    if (!messageErrorCodes.some((known) => known === error)) {
      return `must give ${key} one of these meanings: ${messageErrorCodes.join(', ')}`;
    }
  }
  return undefined;
}
