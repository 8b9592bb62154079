import { type MessageErrorCode, messageErrorCodes } from '../messages/message.ts';

/**
 * The meaning of a refused submit_sm for its text. `elsewhere`: this carrier will not take it, another one may; where
 * there is no other, the text fails with `error`.
 */
export type SubmitRefusal =
  | ({ outcome: 'throttled'; afterMs?: number } & Reported)
  | ({ outcome: 'retry'; error: MessageErrorCode; elsewhere?: true; account?: true } & Reported)
  | ({ outcome: 'never'; error: MessageErrorCode } & Reported);

interface Reported {
  reported?: string;
}

interface Known {
  name: string;
  refusal: SubmitRefusal;
}

const throttled: SubmitRefusal = { outcome: 'throttled' };
const busy: SubmitRefusal = { outcome: 'retry', error: 'carrier_unavailable' };
const account: SubmitRefusal = { outcome: 'retry', error: 'carrier_unavailable', account: true };
const elsewhere = (error: MessageErrorCode): SubmitRefusal => ({ outcome: 'retry', error, elsewhere: true });
const never = (error: MessageErrorCode): SubmitRefusal => ({ outcome: 'never', error });

/** Statuses that a submit_sm may be answered with (SMPP 3.4, section 5.1.3; 0x100 and above from 5.0). */
const known: Record<number, Known> = {
  // The carrier works and wants fewer texts.
  20: { name: 'queue full', refusal: throttled },
  88: { name: 'throttled', refusal: throttled },
  // Nothing is wrong with the text.
  8: { name: 'system error', refusal: busy },
  100: { name: 'temporary error', refusal: busy },
  // The session or the account is wrong: the text waits until an operator or a new bind has put that right.
  2: { name: 'invalid command length', refusal: busy },
  3: { name: 'invalid command', refusal: busy },
  4: { name: 'wrong bind status', refusal: busy },
  5: { name: 'already bound', refusal: busy },
  13: { name: 'bind failed', refusal: busy },
  14: { name: 'invalid password', refusal: account },
  15: { name: 'invalid system id', refusal: account },
  // The carrier has no route for this text.
  10: { name: 'invalid sender', refusal: elsewhere('sender_rejected') },
  21: { name: 'invalid service type', refusal: elsewhere('blocked_by_carrier') },
  69: { name: 'submit failed', refusal: elsewhere('blocked_by_carrier') },
  83: { name: 'invalid system type', refusal: elsewhere('carrier_unavailable') },
  102: { name: 'message rejected', refusal: elsewhere('blocked_by_carrier') },
  254: { name: 'delivery failure', refusal: elsewhere('blocked_by_carrier') },
  255: { name: 'unknown error', refusal: elsewhere('unknown') },
  258: { name: 'service unauthorized', refusal: elsewhere('blocked_by_carrier') },
  // The same text will be refused again.
  1: { name: 'invalid message length', refusal: never('content_rejected') },
  6: { name: 'invalid priority', refusal: never('blocked_by_carrier') },
  7: { name: 'invalid registered delivery', refusal: never('blocked_by_carrier') },
  11: { name: 'invalid destination', refusal: never('invalid_destination') },
  12: { name: 'invalid message id', refusal: never('blocked_by_carrier') },
  64: { name: 'invalid destination flag', refusal: never('blocked_by_carrier') },
  66: { name: 'invalid replace request', refusal: never('blocked_by_carrier') },
  67: { name: 'invalid esm_class', refusal: never('blocked_by_carrier') },
  68: { name: 'cannot submit to a list', refusal: never('blocked_by_carrier') },
  72: { name: 'invalid sender TON', refusal: never('sender_rejected') },
  73: { name: 'invalid sender NPI', refusal: never('sender_rejected') },
  80: { name: 'invalid destination TON', refusal: never('blocked_by_carrier') },
  81: { name: 'invalid destination NPI', refusal: never('blocked_by_carrier') },
  84: { name: 'invalid replace flag', refusal: never('blocked_by_carrier') },
  97: { name: 'invalid schedule time', refusal: never('blocked_by_carrier') },
  98: { name: 'invalid validity', refusal: never('blocked_by_carrier') },
  99: { name: 'invalid default message', refusal: never('blocked_by_carrier') },
  101: { name: 'permanent error', refusal: never('blocked_by_carrier') },
  192: { name: 'invalid TLVs', refusal: never('blocked_by_carrier') },
  193: { name: 'TLV not allowed', refusal: never('blocked_by_carrier') },
  194: { name: 'invalid TLV length', refusal: never('blocked_by_carrier') },
  195: { name: 'TLV missing', refusal: never('blocked_by_carrier') },
  196: { name: 'invalid TLV value', refusal: never('blocked_by_carrier') },
  257: { name: 'prohibited', refusal: never('blocked_by_carrier') },
  260: { name: 'invalid data_coding', refusal: never('content_rejected') },
};

/** Statuses that other PDUs are answered with; on a text they count as unknown. */
const otherNames: Record<number, string> = {
  0: 'ok',
  17: 'cancel failed',
  19: 'replace failed',
  51: 'invalid number of destinations',
  52: 'invalid list name',
  85: 'invalid number of messages',
  103: 'query failed',
  256: 'service denied',
  259: 'not authorized',
};

/** `0x58: throttled`, for logs and timelines: the number is a key of `submit_errors`. */
export function statusWords(status: number): string {
  const code = `0x${(status >>> 0).toString(16).padStart(2, '0')}`;
  const name = known[status]?.name ?? otherNames[status];
  if (name !== undefined) return `${code}: ${name}`;
  return status >= 0x400 && status <= 0x4ff ? `${code}: the carrier's own error` : `${code}: unknown status`;
}

/** The outcome of a text whose submit_sm got this status; the carrier's own meanings come first. */
export function refusalOf(status: number, overrides?: ReadonlyMap<number, SubmitRefusal>): SubmitRefusal {
  return overrides?.get(status) ?? known[status]?.refusal ?? elsewhere('unknown');
}

/** How many meanings a carrier's settings may give. */
const mostOverrides = 256;
const statusKey = /^(?:0[xX][0-9a-fA-F]{1,8}|[0-9]{1,9})$/;
const rightMeaning = 'throttled, retry:<code>, elsewhere:<code> or never:<code>';

/**
 * Why `submit_errors` can't be used (completes a sentence that begins with its name), or undefined. Its keys are
 * command_statuses like `0x0000000b` or `11`, its values meanings like `never:invalid_destination`.
 */
export function submitErrorsProblem(settings: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(settings);
  if (entries.length > mostOverrides) return `must have at most ${mostOverrides} entries`;
  for (const [key, meaning] of entries) {
    if (!statusKey.test(key))
      return `must have command_statuses as keys, like 0x0000000b or 11, not ${JSON.stringify(key)}`;
    if (Number(key) === 0) return 'must not have the key 0: command_status 0 means that the carrier accepted the text';
    if (readMeaning(meaning) === undefined) {
      const codes = messageErrorCodes.join(', ');
      return `must give ${key} a meaning: ${rightMeaning}, where a code is one of ${codes}`;
    }
  }
  return undefined;
}

const alreadyRead = new WeakMap<Readonly<Record<string, string>>, Map<number, SubmitRefusal>>();

/** Reads settings that were checked, each once; leaves out invalid entries. */
export function readSubmitErrors(settings: Readonly<Record<string, string>>): Map<number, SubmitRefusal> {
  const known = alreadyRead.get(settings);
  if (known !== undefined) return known;
  const overrides = new Map<number, SubmitRefusal>();
  alreadyRead.set(settings, overrides);
  for (const [key, meaning] of Object.entries(settings).slice(0, mostOverrides)) {
    const refusal = readMeaning(meaning);
    if (statusKey.test(key) && Number(key) !== 0 && refusal !== undefined) overrides.set(Number(key), refusal);
  }
  return overrides;
}

function readMeaning(meaning: string): SubmitRefusal | undefined {
  if (meaning === 'throttled') return throttled;
  const colon = meaning.indexOf(':');
  const error = messageErrorCodes.find((code) => code === meaning.slice(colon + 1));
  if (colon === -1 || error === undefined) return undefined;
  switch (meaning.slice(0, colon)) {
    case 'retry':
      return { outcome: 'retry', error };
    case 'elsewhere':
      return elsewhere(error);
    case 'never':
      return never(error);
    default:
      return undefined;
  }
}
