import { actionFor } from '../../../src/delivery/attempts/result.ts';
import { earlierEnd } from './result-statements.ts';
import {
  type AttemptRow,
  isUnsent,
  isUnsettled,
  messageIn,
  type QueueRow,
  type Tables,
  withAttempt,
  withMessage,
  withQueued,
} from './tables.ts';
import { type CarrierName, claimedText, expiresAtMs, nameOf, type TextName } from './texts.ts';

/** `queueDue` in schedule-store.ts: what is due goes to the queue. */
export function queueDue(tables: Tables, { carrier, nowMs }: { carrier: CarrierName; nowMs: number }): Tables {
  const due = tables.schedule.filter((row) => row.carrier === carrier && row.dueAtMs <= nowMs);
  const rest: Tables = { ...tables, schedule: tables.schedule.filter((row) => !due.includes(row)) };
  return due.reduce((made, { entry }) => {
    const queued = withQueued(made, { carrier, entry });
    const isScheduled = messageIn(queued, nameOf(entry))?.status === 'scheduled';
    return isScheduled ? withMessage(queued, nameOf(entry), { status: 'queued' }) : queued;
  }, rest);
}

/** `expireWaiting` in expiry-store.ts, one transaction: what waits in queue or schedule past its time ends, whatever its carrier does. */
export function expireWaiting(tables: Tables, { nowMs }: { nowMs: number }): Tables {
  if (nowMs < expiresAtMs) return tables;
  const waiting = [...tables.queue, ...tables.schedule];
  const rest: Tables = { ...tables, queue: [], schedule: [] };
  return waiting.reduce((made, { entry }) => {
    const message = messageIn(made, nameOf(entry));
    if (message === undefined || !isUnsettled(message.status)) return made;
    const { attempt, possibleDuplicates } = entry;
    const action = actionFor(claimedText(entry, message.status), { nowMs, atMostOnce: false });
    const end = action === 'expire' ? 'expired' : 'unknown';
    const status = message.status === 'sent' ? earlierEnd(made, message.name) : end;
    return withMessage(made, message.name, { status, attempt, possibleDuplicates });
  }, rest);
}

/** `cancelMessages` and `cancelTexts` in message-store.ts: only who removes a text from queue or schedule cancels it. */
export function cancelText(tables: Tables, { name }: { name: TextName }): Tables {
  const message = messageIn(tables, name);
  if (message === undefined || !isUnsent(message.status)) return tables;
  const isClean = ({ entry }: QueueRow) => nameOf(entry) === name && !entry.inDoubt;
  const queue = tables.queue.filter((row) => !(isClean(row) && row.carrier === message.carrier));
  const schedule = tables.schedule.filter((row) => !isClean(row));
  if (queue.length === tables.queue.length && schedule.length === tables.schedule.length) return tables;
  return withMessage({ ...tables, queue, schedule }, name, { status: 'canceled' });
}

/** `cancelTexts`, when the verification of the code is over: what a worker has claimed it asks about before it sends. */
export function endVerification(tables: Tables): Tables {
  return { ...cancelText(tables, { name: 'code' }), pending: false };
}

export interface Movable {
  name: TextName;
  mayHaveLeft: boolean;
}

/** `readQueued` and `readScheduled` in text-mover-store.ts: texts that may move off a carrier. */
export function readMovable(tables: Tables, carrier: CarrierName): Movable[] {
  return [...tables.queue, ...tables.schedule].flatMap((row) => {
    const { entry } = row;
    const status = messageIn(tables, nameOf(entry))?.status;
    if (row.carrier !== carrier || entry.moves > 0 || (status !== 'queued' && status !== 'sent')) return [];
    const hasParts = entry.attempt > 0 && tables.parts.some(({ name }) => name === entry.messageId);
    return [{ name: nameOf(entry), mayHaveLeft: entry.inDoubt || entry.possibleDuplicates > 0 || hasParts }];
  });
}

export interface MoveArguments {
  from: CarrierName;
  to: CarrierName;
  names: readonly TextName[];
}

/** `moveTexts` in text-mover-store.ts: moves texts that still wait, and plain texts only if no carrier may have them. */
export function moveTexts(tables: Tables, given: MoveArguments): Tables {
  const movable = readMovable(tables, given.from).filter(({ name, mayHaveLeft }) => name === 'code' || !mayHaveLeft);
  const names = given.names.filter((name) => movable.some((each) => each.name === name));
  return moveTextsAsRead(tables, { ...given, names });
}

/** The statement as it was when it trusted what the mover had read a moment before. */
export function moveTextsAsRead(tables: Tables, { from, to, names }: MoveArguments): Tables {
  const isChosen = ({ carrier, entry }: QueueRow) =>
    carrier === from && names.includes(nameOf(entry)) && entry.moves === 0;
  const gone = [...tables.queue, ...tables.schedule].filter(isChosen);
  const rest: Tables = {
    ...tables,
    queue: tables.queue.filter((row) => !isChosen(row)),
    schedule: tables.schedule.filter((row) => !isChosen(row)),
  };
  return gone.reduce((made, { entry: before }) => {
    const name = nameOf(before);
    const entry = { ...before, attempt: Math.max(before.attempt, 1), moves: 1 };
    const noted = withMessage(withQueued(made, { carrier: to, entry }), name, { carrier: to, attempt: entry.attempt });
    const parts = before.attempt > 0 ? noted.parts.filter((row) => row.name !== name) : noted.parts;
    return keepUnavailable({ ...noted, parts }, { name, attempt: entry.attempt, carrier: from });
  }, rest);
}

/** One that was never tried keeps a note of the carrier that it was meant for; a reported attempt stays. */
function keepUnavailable(tables: Tables, about: Pick<AttemptRow, 'name' | 'attempt' | 'carrier'>): Tables {
  const isKept = tables.attempts.some(({ name, attempt }) => name === about.name && attempt === about.attempt);
  if (isKept) return tables;
  return withAttempt(tables, { ...about, outcome: 'unavailable' });
}

/** The drop of a partition: the records of its texts are gone. */
export function dropPartition(tables: Tables, { name }: { name: TextName }): Tables {
  return { ...tables, messages: tables.messages.filter((row) => row.name !== name) };
}
