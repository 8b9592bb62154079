// Tests: test/smpp-server/parts.test.ts
import { isMessage } from '../messages/acceptance.ts';
import type { Message } from '../messages/message.ts';
import type { MessageService, Priority } from '../messages/message-service.ts';
import { findMessages } from '../messages/message-store.ts';
import { textProblem } from '../messages/text/text.ts';
import type { Clock } from '../platform/clock.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import { keyedHash, keyedHashOfBytes } from '../platform/crypto/secrets.ts';
import { type Batch, createBatch } from '../platform/database/batch.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { ApiError, unavailable } from '../platform/errors.ts';
import { idTimeMs, longestRequestMs, newId } from '../platform/ids.ts';
import type { Coding } from '../smpp/charset.ts';
import { statuses } from '../smpp/pdu.ts';
import type { TextPart } from '../smpp/user-data.ts';
import type { StoredPart } from './part-store.ts';
import * as store from './part-store.ts';
import { giveUpParts, joinWithinMs, writeWithinMs } from './part-sweep.ts';
import type { PartAnswer } from './requests.ts';
import { statusCallbackOf } from './status-callback.ts';
import { type ReceiptWish, type Refusal, refuse, type SubmitRequest, textOf } from './submit-fields.ts';
import { type PartToAdd, toSendRequest } from './submits.ts';

/** Maximum number of parts of each account that wait for others. */
const mostWaiting = 1000;
/** How long after an id was made a node may still write its message. */
const writtenByMs = longestRequestMs + 5000;

export interface PartsOptions {
  database: Database;
  clock: Clock;
  keys: KeyRing;
  messages: Pick<MessageService, 'prepare' | 'accept' | 'refusalOf'>;
}

interface Added extends PartToAdd {
  part: TextPart;
  textHash: Buffer;
  digest: Buffer;
}

/** The part was the last of its text. */
interface Whole {
  kind: 'whole';
  id: string;
  message: Message;
  parts: StoredPart[];
}

/** The part belongs to a whole text whose message may still be written. */
interface Undecided {
  kind: 'undecided';
  id: string;
  messageId: string;
}

type Outcome = { kind: 'kept'; id: string } | Undecided | Whole | Refusal;

/**
 * Joins parts to texts. Each part is committed and answered with its own id; the last one when the text is committed.
 * A text whose parts do not come within a minute is given up: its parts get a receipt, and nothing is sent.
 */
export function createParts({ database, clock, keys, messages }: PartsOptions) {
  /** The messages that this process is writing. */
  const underWay = new Map<string, Promise<void>>();
  const batch: Batch<Added, Outcome> = createBatch({
    database,
    clock,
    repeatable: false,
    ownerOf: ({ account }) => account.applicationId,
    keysOf: ({ textHash }) => [textHash.toString('base64')],
    run: (tx, items) => addAll(tx, items),
  });

  async function addAll(tx: Tx, items: Added[]): Promise<Outcome[]> {
    const hashes = items.map(({ textHash }) => textHash);
    await store.lockTexts(tx, hashes);
    const nowMs = clock.nowMs();
    const found = await store.findLately(tx, hashes, nowMs - joinWithinMs, nowMs - writeWithinMs);
    const written = await findWritten(tx, items, found);
    const accounts = [...new Set(items.map(({ account }) => account.id))];
    const waiting = await store.countWaiting(tx, accounts, mostWaiting);
    const fresh: StoredPart[] = [];
    const outcomes = items.map((item): Outcome => {
      const of = found.filter(({ textHash }) => textHash.equals(item.textHash));
      const made = addOne(item, of, { waiting, written, nowMs });
      if ('fresh' in made) fresh.push(made.fresh);
      return made.outcome;
    });
    if (fresh.length > 0) await store.insertParts(tx, fresh);
    const whole = outcomes.filter((each) => 'kind' in each && each.kind === 'whole');
    if (whole.length > 0)
      await store.nameMessage(
        tx,
        whole.map(({ parts, message }) => ({ partIds: parts.map(({ id }) => id), messageId: message.id })),
      );
    return outcomes;
  }

  /** Of the messages that may not be written yet and whose parts were submitted again, returns those that are written. */
  async function findWritten(tx: Tx, items: Added[], found: StoredPart[]): Promise<Set<string>> {
    const again = found.filter((stored) => isUnwritten(stored) && items.some((item) => isSame(item, stored)));
    const ids = [...new Set(again.flatMap(({ messageId }) => messageId ?? []))];
    return new Set((await findMessages(tx, ids)).map(({ id }) => id));
  }

  function addOne(
    item: Added,
    found: StoredPart[],
    { waiting, written, nowMs }: { waiting: Map<string, number>; written: Set<string>; nowMs: number },
  ): { outcome: Outcome; fresh: StoredPart } | { outcome: Outcome } {
    const { account, part } = item;
    const same = found.find((stored) => isSame(item, stored));
    // The peer submits the part again, because it did not get our answer, or got an error.
    if (same !== undefined) {
      const { id, messageId, body } = same;
      const isKept = body === null || messageId === null || written.has(messageId);
      return { outcome: isKept ? { kind: 'kept', id } : writeAgain(item, { id, messageId }, found, nowMs) };
    }
    const open = found.filter(({ body, messageId }) => body !== null && messageId === null);
    if (open.some(({ number }) => number === part.part))
      return { outcome: refuse(statuses.queueFull, 'another text with the same reference is still incomplete') };
    const fresh = toStored(item, newId('prt', clock), nowMs);
    const parts = [...open, fresh].sort((a, b) => a.number - b.number);
    // A part that completes its text waits for nothing, so there is always room for it.
    if (parts.length < part.total) {
      const count = waiting.get(account.id) ?? 0;
      if (count >= mostWaiting)
        return {
          outcome: refuse(
            statuses.queueFull,
            `${mostWaiting} parts of the account wait for the rest of their texts, the maximum`,
          ),
        };
      waiting.set(account.id, count + 1);
      return { outcome: { kind: 'kept', id: fresh.id }, fresh };
    }
    const message = join(item, parts);
    if (!isMessage(message)) return { outcome: refuse(statuses.invalidMessageLength, message.message) };
    return { outcome: { kind: 'whole', id: fresh.id, message, parts }, fresh };
  }

  /** Makes a new message of a whole text, once the message that was prepared before can no longer be written. */
  function writeAgain(
    item: Added,
    { id, messageId }: Pick<Undecided, 'id' | 'messageId'>,
    found: StoredPart[],
    nowMs: number,
  ): Outcome {
    const parts = found.filter((each) => each.messageId === messageId).sort((a, b) => a.number - b.number);
    const mayBeWritten = nowMs - idTimeMs(messageId) < writtenByMs;
    if (mayBeWritten || parts.length < item.part.total) return { kind: 'undecided', id, messageId };
    const message = join(item, parts);
    return isMessage(message)
      ? { kind: 'whole', id, message, parts }
      : refuse(statuses.invalidMessageLength, message.message);
  }

  /** The message of a whole text. Times and sender are those of its first part. */
  function join({ account, known, correlationId, trace }: Added, parts: StoredPart[]): Message | ApiError {
    const bodies = parts.flatMap(({ body }) => (body === null ? [] : [body]));
    const [first] = bodies;
    if (first === undefined) throw new Error('cannot join a text without parts');
    const octets = Buffer.concat(bodies.map((each) => Buffer.from(each.octets, 'base64')));
    const request = toRequest(first, octets);
    const text = bodies.every(({ coding }) => coding === first.coding)
      ? textOf(request)
      : bodies.map((each) => textOf(toRequest(each, Buffer.from(each.octets, 'base64')))).join('');
    const problem = textProblem(text);
    if (problem !== undefined) return new ApiError('INVALID_ARGUMENT', `the joined text ${problem}`);
    const { applicationId, rights, api } = known.caller;
    const message = messages.prepare(toSendRequest(request, text), {
      applicationId,
      rights,
      api,
      correlationId,
      trace,
    });
    if (!isMessage(message)) return message;
    const wanted = parts.filter(({ body }) => body?.wish !== '');
    const wish = (wanted[0]?.body?.wish ?? '') as ReceiptWish;
    message.statusCallback = statusCallbackOf(
      wish,
      account.id,
      wanted.map(({ id }) => id),
    );
    return message;
  }

  /** Refuses what the whole text would be refused for, before any part is kept. */
  async function requireSendable({ known, request, correlationId }: PartToAdd): Promise<void> {
    const { applicationId, rights, api } = known.caller;
    const context = { applicationId, rights, api, correlationId };
    const tried = messages.prepare(toSendRequest(request, 'x'), context);
    if (!isMessage(tried))
      throw await messages.refusalOf(tried, { applicationId, segmentsPerDay: rights.segmentsPerDay });
  }

  async function send({ message, parts, id }: Whole, { known, trace }: PartToAdd): Promise<void> {
    const { applicationId, rights } = known.caller;
    const spender = { applicationId, segmentsPerDay: rights.segmentsPerDay };
    const ids = parts.map((each) => each.id);
    const [made = message] = await messages.accept(spender, [message], () => undefined, trace);
    if (isMessage(made)) {
      // If this write is lost, the sweep finds the message and closes its parts.
      await store.closeParts(database, ids).catch(() => {});
      return;
    }
    // Refused for good, such as for the limit of the day: this part is refused, and the others are given up.
    await database.transaction(async (tx) => {
      await store.deletePart(tx, id);
      const others = parts.filter((each) => each.id !== id);
      await giveUpParts(tx, others, clock.nowMs());
    });
    throw made;
  }

  async function sendOnce(whole: Whole, given: PartToAdd): Promise<void> {
    const { id } = whole.message;
    const sending = send(whole, given).finally(() => underWay.delete(id));
    underWay.set(id, sending);
    await sending;
  }

  /** Waits for this process's write. A write that has just ended is no longer under way: then the message is there. */
  async function requireWritten(messageId: string): Promise<void> {
    const writing = underWay.get(messageId);
    if (writing !== undefined) return writing;
    const [written] = await findMessages(database, [messageId]);
    if (written === undefined)
      throw unavailable('The text of this part may still be written. Send the part again in half a minute.');
  }

  return {
    async add(given: PartToAdd): Promise<PartAnswer | Refusal> {
      const { part, octets, coding, to, from } = given.request;
      if (part === null) throw new Error('cannot join a text that is no part');
      await requireSendable(given);
      const key = keys.keyFor('smpp-part', keys.version);
      const name = [given.account.id, from, to, part.width, part.reference, part.total].join('\n');
      const added = {
        ...given,
        part,
        textHash: keyedHash(key, name),
        digest: keyedHashOfBytes(key, coding, octets),
      };
      const outcome = await batch.submit(added);
      if ('why' in outcome) return outcome;
      if (outcome.kind === 'whole') await sendOnce(outcome, given);
      else if (outcome.kind === 'undecided') await requireWritten(outcome.messageId);
      return { messageId: outcome.id };
    },

    /** Ends all parts that wait with this one, unless it waits no longer. Parts that come later are another text. */
    cancel(part: StoredPart): Promise<boolean> {
      return database.transaction(async (tx) => {
        // With this lock, the last part of the text is added before or after the cancellation, never in between.
        await store.lockTexts(tx, [part.textHash]);
        const nowMs = clock.nowMs();
        const waiting = await store.takeWaiting(tx, part, nowMs - joinWithinMs);
        if (!waiting.some(({ id }) => id === part.id)) return false;
        await giveUpParts(tx, waiting, nowMs, 'canceled');
        return true;
      });
    },

    find: (applicationId: string, id: string) => store.findPart(database, applicationId, id),
    drain: batch.drain,
  };
}

export type Parts = ReturnType<typeof createParts>;

/** Whether a stored part is this part, and its text was not given up. */
function isSame({ part, digest }: Added, stored: StoredPart): boolean {
  const isGivenUp = stored.body === null && stored.messageId === null;
  return stored.number === part.part && !isGivenUp && stored.digest.equals(digest);
}

function isUnwritten({ body, messageId }: StoredPart): boolean {
  return body !== null && messageId !== null;
}

function toStored({ account, part, textHash, digest, request }: Added, id: string, nowMs: number): StoredPart {
  const { to, from, coding, octets, validitySeconds, sendAtMs, wish, priority, reference } = request;
  return {
    id,
    applicationId: account.applicationId,
    accountId: account.id,
    textHash,
    number: part.part,
    total: part.total,
    digest,
    body: { to, from, coding, octets: octets.toString('base64'), validitySeconds, sendAtMs, wish, priority, reference },
    createdAtMs: nowMs,
    messageId: null,
  };
}

function toRequest(body: store.PartBody, octets: Buffer): SubmitRequest {
  return {
    ...body,
    octets,
    part: null,
    coding: body.coding as Coding,
    wish: body.wish as ReceiptWish,
    priority: body.priority as Priority,
  };
}
