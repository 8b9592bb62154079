import type { TextAttempt } from '../../../src/delivery/attempts/attempt.ts';
import type { EndedText, QueueEntry, ScheduledText } from '../../../src/delivery/attempts/queued-text.ts';
import type { PartState } from '../../../src/delivery/carrier/carrier.ts';
import {
  isUnsent,
  isUnsettled,
  messageIn,
  type PartRow,
  type Tables,
  withAttempt,
  withMessage,
  withQueued,
  withScheduled,
  withSentText,
} from './tables.ts';
import { type CarrierName, nameOf, partsOf, type TextName } from './texts.ts';

export interface Results {
  readonly ended: readonly EndedText[];
  readonly again: readonly ScheduledText[];
}

export interface RecordArguments extends Results {
  claim: { id: number; revision: number };
  carrier: CarrierName;
  /** Receipts will name texts by the ids of this account. */
  account: CarrierName | undefined;
  remaining: readonly QueueEntry[];
}

/** `recordClaim` in result-store.ts, one statement: closes the claim, or keeps the texts that the carrier still has. */
export function recordClaim(tables: Tables, { claim, remaining, ended, again }: RecordArguments): Tables {
  const row = tables.claims.find(({ id, revision }) => id === claim.id && revision === claim.revision);
  return row === undefined ? tables : recordOpen(tables, claim.id, { remaining, ended, again });
}

/** The statement as it was without a revision: it acts whenever the claim is there. */
export function recordClaimByIdAlone(tables: Tables, { claim, remaining, ended, again }: RecordArguments): Tables {
  const row = tables.claims.find(({ id }) => id === claim.id);
  return row === undefined ? tables : recordOpen(tables, claim.id, { remaining, ended, again });
}

function recordOpen(
  tables: Tables,
  id: number,
  { remaining, ended, again }: Results & { remaining: readonly QueueEntry[] },
): Tables {
  const claims = tables.claims.flatMap((row) => {
    if (row.id !== id) return [row];
    return remaining.length === 0 ? [] : [{ ...row, revision: row.revision + 1, entries: remaining }];
  });
  let made: Tables = { ...tables, claims };
  for (const text of ended) made = recordEnd(made, text);
  for (const { entry, long } of [...ended, ...again]) made = withParts(made, nameOf(entry), long?.parts);
  for (const text of again) made = tryAgain(made, text);
  return keepAttempts(
    made,
    [...ended, ...again].map(({ attempt }) => attempt),
  );
}

/** `recordParts` in result-statement.ts; `carrier` is set where another carrier may have got the text meanwhile. */
function recordEnd(tables: Tables, text: EndedText, carrier?: CarrierName): Tables {
  const { entry, status, carrierMessageId, receiptKey, long, attempt, wasSent = false } = text;
  const name = nameOf(entry);
  const message = messageIn(tables, name);
  if (message === undefined || !(wasSent ? message.status === 'sent' : isUnsent(message.status))) return tables;
  const sent = status === 'sent';
  const isEarlierEnd = wasSent && attempt === undefined && !sent;
  const counts = { attempt: entry.attempt, possibleDuplicates: entry.possibleDuplicates };
  const made = withMessage(tables, name, {
    status: isEarlierEnd ? earlierEnd(tables, name) : status,
    ...counts,
    ...(carrier !== undefined && { carrier }),
    ...(sent && { carrierMessageId, hasLeft: true }),
  });
  return sent && long === undefined && receiptKey !== null ? withSentText(made, receiptKey) : made;
}

/** A text that a first carrier has sent in vain, and that no second one was given, ends as the first one reported. */
export function earlierEnd({ attempts }: Tables, name: TextName): 'undelivered' {
  const last = attempts.findLast((row) => row.name === name && row.receipt !== null);
  if (last !== undefined && last.receipt !== 'undelivered') throw new Error('only bad news sends a code again');
  return 'undelivered';
}

/** `partInserts` in part-store.ts: what a carrier has is never in doubt again. */
function withParts(tables: Tables, name: TextName, states: readonly PartState[] = []): Tables {
  return states.reduce((made, state) => withPart(made, name, state), tables);
}

function withPart(tables: Tables, name: TextName, given: PartState): Tables {
  const { part, state, carrierMessageId, receiptKey } = given;
  const before = tables.parts.find((row) => row.name === name && row.part === part);
  const isDoubt = state === 'in_doubt' && before?.state !== 'accepted';
  const row: PartRow = {
    name,
    part,
    needed: partsOf[name],
    state: isDoubt ? 'in_doubt' : 'accepted',
    carrierMessageId: carrierMessageId ?? before?.carrierMessageId ?? null,
    receiptKey: null,
    outcome: before?.outcome ?? null,
  };
  const parts = [...tables.parts.filter((each) => each !== before), row].sort((one, other) => one.part - other.part);
  const noted = { ...tables, parts };
  return receiptKey === null ? noted : withSentText(noted, receiptKey);
}

/** `scheduleParts` in result-store.ts: a text that a receipt has settled meanwhile is not sent again. */
function tryAgain(tables: Tables, { entry, carrier: key, dueAtMs, isMoved }: ScheduledText): Tables {
  const name = nameOf(entry);
  const carrier = key as CarrierName;
  const forgotten = isMoved ? { ...tables, parts: tables.parts.filter((row) => row.name !== name) } : tables;
  const message = messageIn(tables, name);
  if (message === undefined || !isUnsettled(message.status)) return forgotten;
  const { attempt, possibleDuplicates } = entry;
  const noted = withMessage(forgotten, name, { attempt, possibleDuplicates, carrier });
  return isMoved ? withQueued(noted, { carrier, entry }) : withScheduled(noted, { carrier, entry, dueAtMs });
}

/** `attemptInserts` in text-attempt-store.ts. */
function keepAttempts(tables: Tables, attempts: readonly (TextAttempt | undefined)[]): Tables {
  return attempts.reduce((made, kept) => {
    if (kept === undefined) return made;
    const { messageId, attempt, carrier, outcome } = kept;
    return withAttempt(made, { name: messageId as TextName, attempt, carrier: carrier as CarrierName, outcome });
  }, tables);
}

export interface LateArguments extends Results {
  carrier: CarrierName;
}

/** `recordLateAnswers` in late-answer-store.ts, one transaction: it changes rows, and never submits. */
export function recordLateAnswers(tables: Tables, { ended, again: all, carrier }: LateArguments): Tables {
  const again = all.filter(({ entry }) => !entry.inDoubt);
  let made = tables;
  for (const text of again) made = text.isMoved ? moveDoubt(made, text) : settleDoubt(made, text);
  const settled: EndedText[] = [];
  for (const text of ended) {
    const rest = withoutEntries(made, isRemovable(text));
    if (rest !== made) settled.push(text);
    made = rest;
  }
  for (const text of settled) made = recordEnd(made, text, carrier);
  for (const { entry, long } of [...settled, ...again]) made = withParts(made, nameOf(entry), long?.parts);
  made = keepAttempts(
    made,
    [...ended, ...again].map(({ attempt }) => attempt),
  );
  for (const text of ended) if (text.status === 'sent') made = nameLate(made, text, settled.includes(text));
  return made;
}

/** A refusal says nothing of a text that another carrier has now; an acceptance makes that copy needless. */
function isRemovable({ entry: answered, status }: EndedText): (entry: QueueEntry) => boolean {
  return (entry) => isDoubt(entry, answered, answered.attempt) && (status === 'sent' || entry.moves === answered.moves);
}

/** `lateKeys`: what receipts will call a text that went on before this answer came. */
function nameLate(tables: Tables, { entry, receiptKey, long }: EndedText, isSettled: boolean): Tables {
  const name = nameOf(entry);
  const isNoted = tables.attempts.some((row) => row.name === name && row.attempt === entry.attempt);
  const noted = isNoted ? withOutcome(tables, name, entry.attempt) : tables;
  return isSettled || long !== undefined || receiptKey === null ? noted : withSentText(noted, receiptKey);
}

function withOutcome(tables: Tables, name: TextName, attempt: number): Tables {
  const attempts = tables.attempts.map((row) =>
    row.name === name && row.attempt === attempt ? { ...row, outcome: 'accepted' as const } : row,
  );
  return { ...tables, attempts };
}

/** `settleDoubtStatement`: the carrier did not take the text, so that it is no longer in doubt, and waits. */
function settleDoubt(tables: Tables, { entry: given, submit, dueAtMs, carrier: key }: ScheduledText): Tables {
  const isAnswered = (entry: QueueEntry) =>
    isDoubt(entry, given, submit ?? given.attempt) && entry.moves === given.moves;
  const { attempt, unanswered, possibleDuplicates } = given;
  const settled = { attempt, unanswered, possibleDuplicates, inDoubt: false };
  const queue = tables.queue.map((row) =>
    isAnswered(row.entry) ? { ...row, entry: { ...row.entry, ...settled } } : row,
  );
  const schedule = tables.schedule.map((row) =>
    isAnswered(row.entry) ? { ...row, dueAtMs, entry: { ...row.entry, ...settled } } : row,
  );
  if (![...tables.queue, ...tables.schedule].some(({ entry }) => isAnswered(entry))) return tables;
  const carrier = key as CarrierName;
  return withMessage({ ...tables, queue, schedule }, nameOf(given), { attempt, possibleDuplicates, carrier });
}

/** `moveDoubtStatement`: the carrier refused a text that another one may take: it goes on at once, with all its parts. */
function moveDoubt(tables: Tables, { entry: given, submit, carrier: key }: ScheduledText): Tables {
  const name = nameOf(given);
  const carrier = key as CarrierName;
  const rest = withoutEntries(
    tables,
    (entry) => isDoubt(entry, given, submit ?? given.attempt) && entry.moves === given.moves - 1,
  );
  if (rest === tables) return tables;
  const { attempt, possibleDuplicates } = given;
  const noted = withMessage(rest, name, { attempt, possibleDuplicates, carrier });
  return withQueued({ ...noted, parts: noted.parts.filter((row) => row.name !== name) }, { carrier, entry: given });
}

/** A text in doubt is in the queue or the schedule, under the attempt that is answered. */
function isDoubt(entry: QueueEntry, { messageId }: QueueEntry, attempt: number): boolean {
  return entry.messageId === messageId && entry.attempt === attempt && entry.inDoubt;
}

/** Returns the same tables if nothing fits. */
function withoutEntries(tables: Tables, fits: (entry: QueueEntry) => boolean): Tables {
  const queue = tables.queue.filter(({ entry }) => !fits(entry));
  const schedule = tables.schedule.filter(({ entry }) => !fits(entry));
  const isSame = queue.length === tables.queue.length && schedule.length === tables.schedule.length;
  return isSame ? tables : { ...tables, queue, schedule };
}
