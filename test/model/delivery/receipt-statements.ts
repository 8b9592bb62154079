import { wholeOutcomeOf } from '../../../src/delivery/queue/part-store.ts';
import { correctedEnds } from '../../../src/messages/message.ts';
import { minuteMs } from '../../../src/platform/clock.ts';
import {
  isUnsent,
  type MessageRow,
  messageIn,
  type ReportedReceipt,
  type Tables,
  withAttempt,
  withMessage,
  withQueued,
} from './tables.ts';
import { type CarrierName, expiresAtMs, newEntry, readCarrierId, type TextName } from './texts.ts';

export interface ReceiptArguments {
  receipt: ReportedReceipt;
  nowMs: number;
  /** Where the code should go on to; undefined if no other carrier works. */
  next: CarrierName | undefined;
}

interface Applied {
  tables: Tables;
  /** False: its text was not found, and the receipt is tried again. */
  isKnown: boolean;
}

/** `apply` in receipts.ts, one transaction: a receipt that matches no text is kept. */
export function applyReceipt(tables: Tables, options: ReceiptArguments): Tables {
  const { receipt } = options;
  const { tables: made, isKnown } = matchReceipt(tables, options);
  if (isKnown || made.unmatched.some((each) => isSame(each, receipt))) return made;
  return { ...made, unmatched: [...made.unmatched, receipt].sort(byId) };
}

/** `rematch` in receipts.ts, one transaction, of one unmatched receipt. */
export function rematchReceipt(tables: Tables, options: ReceiptArguments): Tables {
  const { tables: made, isKnown } = matchReceipt(tables, options);
  if (!isKnown) return tables;
  return { ...made, unmatched: made.unmatched.filter((each) => !isSame(each, options.receipt)) };
}

const formOf = ({ carrierMessageId, outcome, isNamed }: ReportedReceipt) => `${carrierMessageId} ${outcome} ${isNamed}`;
const isSame = (one: ReportedReceipt, other: ReportedReceipt) => formOf(one) === formOf(other);
const byId = (one: ReportedReceipt, other: ReportedReceipt) => (formOf(one) < formOf(other) ? -1 : 1);

/** By our id, if the carrier repeats it; otherwise by what `sent_text` says (receipt-matching.ts). */
function matchReceipt(tables: Tables, options: ReceiptArguments): Applied {
  const { carrierMessageId, isNamed } = options.receipt;
  const { name } = readCarrierId(carrierMessageId);
  if (isNamed) {
    const applied = applyMatched(tables, name, options);
    if (applied.isKnown) return applied;
  }
  if (!tables.sentTexts.includes(carrierMessageId)) return { tables, isKnown: false };
  return name === 'code' ? applyMatched(tables, name, options) : applyToPart(tables, name, options);
}

/** `applyToParts`: a receipt for a part waits until all parts were sent. Then `notePartReceipts`. */
function applyToPart(tables: Tables, name: TextName, options: ReceiptArguments): Applied {
  const { receipt } = options;
  const message = messageIn(tables, name);
  if (message === undefined || isUnsent(message.status)) return { tables, isKnown: false };
  const { part } = readCarrierId(receipt.carrierMessageId);
  const textId = message.possibleDuplicates > 0 ? message.carrierMessageId : null;
  const partId = tables.parts.find((row) => row.name === name && row.part === part)?.carrierMessageId;
  // Of a text that may have been sent twice the bad news of another copy says nothing: `isOfKnownCopy`.
  const isKnownCopy = textId !== null && partId === receipt.carrierMessageId;
  if (textId !== null && receipt.outcome !== 'delivered' && !isKnownCopy) return { tables, isKnown: true };
  const reportedId = textId ?? receipt.carrierMessageId;
  const parts = tables.parts.map((row) => {
    const isReplaced = row.outcome === null || row.outcome === 'unknown' || receipt.outcome === 'delivered';
    return row.name === name && row.part === part && isReplaced ? { ...row, outcome: receipt.outcome } : row;
  });
  const noted = { ...tables, parts };
  const whole = wholeOutcomeOf(parts.filter((row) => row.name === name).map((row) => ({ ...row, error: null })));
  if (whole === undefined) return { tables: noted, isKnown: true };
  const outcome = whole.outcome === 'delivered' ? 'delivered' : 'undelivered';
  const made = applyMatched(noted, name, { ...options, receipt: { ...receipt, outcome } }, reportedId);
  return { tables: made.tables, isKnown: true };
}

/** `applyMatched` in receipts.ts: `resendCodes`, then `applyToSent`, then `applyToUnsent`. */
function applyMatched(
  tables: Tables,
  name: TextName,
  options: ReceiptArguments,
  /** The carrier's id of the copy that the receipt is for. */
  reportedId = options.receipt.carrierMessageId,
): Applied {
  const message = messageIn(tables, name);
  if (message === undefined) return { tables, isKnown: false };
  const { carrier } = readCarrierId(options.receipt.carrierMessageId);
  const resent = resendCode(tables, message, carrier, options);
  if (resent !== undefined) return { tables: resent, isKnown: true };
  const isOfCarrier =
    message.carrier === carrier || tables.attempts.some((row) => row.name === name && row.carrier === carrier);
  if (!isOfCarrier) return { tables, isKnown: false };
  const noted = message.carrier === carrier ? tables : noteEarlier(tables, name, carrier, options.receipt);
  if (isUnsent(message.status)) return applyToUnsent(noted, message, carrier, options.receipt);
  const { outcome } = options.receipt;
  return { tables: applyToSent(noted, message, carrier, { outcome, reportedId }), isKnown: true };
}

/** `resendCodes` in code-resends.ts: a code that did not arrive goes to the next carrier, once, and stays `sent`. */
function resendCode(
  tables: Tables,
  message: MessageRow,
  from: CarrierName,
  { receipt, nowMs, next }: ReceiptArguments,
): Tables | undefined {
  const { name, status, possibleDuplicates, carrierMessageId, attempt } = message;
  const isReported = possibleDuplicates === 0 || carrierMessageId === receipt.carrierMessageId;
  const isElsewhere = tables.attempts.some((row) => row.name === name && row.carrier !== from);
  const isFound =
    receipt.outcome === 'undelivered' &&
    name === 'code' &&
    message.carrier === from &&
    status === 'sent' &&
    expiresAtMs >= nowMs + minuteMs;
  if (!isFound || !isReported || isElsewhere || !tables.pending || next === undefined) return undefined;
  const told = withAttempt(tables, { name, attempt, carrier: from, outcome: 'accepted' });
  const kept = noteReceipt(told, name, attempt, receipt);
  const queued = withQueued(kept, {
    carrier: next,
    entry: { ...newEntry(name), attempt, possibleDuplicates, moves: 1 },
  });
  return withMessage(queued, name, { carrier: next });
}

function noteReceipt(tables: Tables, name: TextName, attempt: number, { outcome }: ReportedReceipt): Tables {
  const attempts = tables.attempts.map((row) =>
    row.name === name && row.attempt === attempt ? { ...row, receipt: outcome } : row,
  );
  return { ...tables, attempts };
}

/** `earlier_attempt` in `sentStatement`. */
function noteEarlier(tables: Tables, name: TextName, carrier: CarrierName, { outcome }: ReportedReceipt): Tables {
  const attempts = tables.attempts.map((row) => {
    const isTold = row.receipt !== null && outcome !== 'delivered';
    return row.name === name && row.carrier === carrier && !isTold ? { ...row, receipt: outcome } : row;
  });
  return { ...tables, attempts };
}

/** `applyToSent` in receipt-store.ts: states never go backwards, but any `delivered` wins. */
function applyToSent(
  tables: Tables,
  message: MessageRow,
  carrier: CarrierName,
  receipt: Pick<ReportedReceipt, 'outcome'> & { reportedId: string },
): Tables {
  const { name, status, possibleDuplicates, carrierMessageId } = message;
  const isSettled = { status: receipt.outcome, hasLeft: true };
  const ids = { carrierMessageId: carrierMessageId ?? receipt.reportedId };
  if (receipt.outcome === 'delivered') {
    const isOpen = status === 'sent' || status === 'unknown';
    const applies = isOpen || (correctedEnds.includes(status) && mayArrive(tables, message));
    return applies ? withMessage(tables, name, { ...isSettled, ...ids }) : tables;
  }
  if (message.carrier !== carrier) return tables;
  const isItsCopy = possibleDuplicates === 0 || carrierMessageId === receipt.reportedId;
  const applies = status === 'unknown' || (status === 'sent' && isItsCopy);
  return applies ? withMessage(tables, name, { ...isSettled, ...ids }) : tables;
}

function mayArrive({ attempts }: Tables, { name, hasLeft, possibleDuplicates }: MessageRow): boolean {
  const reached = attempts.some(
    (row) => row.name === name && (row.outcome === 'accepted' || row.outcome === 'in_doubt'),
  );
  return hasLeft || possibleDuplicates > 0 || reached;
}

/** `applyToUnsent` in receipt-store.ts: only who removes the text from queue or schedule, or holds its claim, ends it. */
function applyToUnsent(tables: Tables, message: MessageRow, carrier: CarrierName, receipt: ReportedReceipt): Applied {
  const { name } = message;
  const isDelivered = receipt.outcome === 'delivered';
  if (message.carrier !== carrier && !isDelivered) return { tables, isKnown: false };
  const claimed = tables.claims
    .filter((row) => row.carrier === message.carrier)
    .flatMap(({ entries }) => entries)
    .filter((entry) => entry.messageId === name)
    .map((entry) => ({
      attempt: entry.attempt + 1,
      possibleDuplicates: entry.possibleDuplicates + Number(entry.inDoubt),
      inDoubt: true,
    }));
  const queued = tables.queue.filter((row) => row.carrier === message.carrier && row.entry.messageId === name);
  const scheduled = tables.schedule.filter((row) => row.entry.messageId === name);
  const [found] = [...[...queued, ...scheduled].map(({ entry }) => entry), ...claimed];
  if (found === undefined) return { tables, isKnown: false };
  const { attempt, possibleDuplicates, inDoubt } = found;
  if (!(isDelivered ? attempt > 0 : inDoubt && possibleDuplicates === 0)) return { tables, isKnown: true };
  const rest: Tables = {
    ...tables,
    queue: tables.queue.filter((row) => !queued.includes(row)),
    schedule: tables.schedule.filter((row) => !scheduled.includes(row)),
  };
  const carrierMessageId = message.carrierMessageId ?? receipt.carrierMessageId;
  const counts = { attempt, possibleDuplicates, carrierMessageId };
  return { tables: withMessage(rest, name, { status: receipt.outcome, hasLeft: true, ...counts }), isKnown: true };
}
