import type { InboundSource, InboundText } from '../delivery/carrier/carrier.ts';
import { readCarrierId } from '../delivery/carrier/id.ts';
import { carrierNameOf } from '../messages/message.ts';
import { measure } from '../messages/text/text.ts';
import type { KeyRing } from '../platform/crypto/keys.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { retryCollisions } from '../platform/database/retry-collisions.ts';
import { newId } from '../platform/ids.ts';
import { createKeywordHandler, type Holder, type KeywordOptions } from './handle-keyword.ts';
import { type Arrival, type Inbound, readableAddress, readableText } from './inbound.ts';
import { insertInbound } from './inbound-store.ts';
import { joinParts, type PartText, partsKeptMs, takeIncomplete } from './join-parts.ts';
import { applicationScope, type NotifiedScope, senderScope } from './opt-out.ts';
import { canonicalNumber, holderOf, holdersOf, type OwnNumber } from './own-number.ts';
import { findNumbers } from './own-number-store.ts';
import { findOldLongTexts } from './part-store.ts';
import { separateRepeats } from './repeats.ts';
import { mayMeanStop, type Word, wordOf } from './words.ts';

export interface InboundReceiverOptions extends KeywordOptions {
  database: Database;
  keys: KeyRing;
  /** Returns the verification that a whole text approves. This comes before any keyword, and such a text is not stored. */
  approve: (tx: Tx, text: { from: string; to: string; text: string; carrier: string }) => Promise<string | undefined>;
  /** Called after a commit that has made an answer, with the carrier that sends it. */
  wake: (carriers: readonly string[]) => void;
}

export interface Replied {
  record: Inbound | undefined;
  verificationId: string | undefined;
}

export interface InboundReceiver {
  /**
   * Stores texts from phones and handles their keywords; all is on disk when it resolves. Repeats change nothing.
   * Returns the records of the texts that are complete. A virtual phone belongs to one application, and its texts
   * affect no other.
   */
  receive(source: InboundSource, texts: InboundText[], phoneOf?: Holder): Promise<Inbound[]>;
  /** Like `receive`, for one text of a virtual phone: returns its record, or the verification that it approved. */
  reply(source: InboundSource, text: InboundText, phoneOf: Holder | undefined): Promise<Replied>;
  /** Delivers some of the texts that were not completed within an hour. Returns how many. */
  deliverIncomplete(): Promise<number>;
}

interface Approved {
  arrival: Arrival;
  verificationId: string;
}

/** A text, its record, and the entries of the number that it came to. */
interface Recorded {
  arrival: Arrival;
  record: Inbound;
  word: Word | undefined;
  scopes: NotifiedScope[];
  holder: Holder | undefined;
  isOwn: boolean;
}

const mostIncomplete = 50;

export function createInboundReceiver(options: InboundReceiverOptions): InboundReceiver {
  const { database, clock, keys, approve, wake } = options;
  const { handleKeyword, stop } = createKeywordHandler(options);

  function recordOf(arrival: Arrival, source: InboundSource, all: OwnNumber[], phoneOf: Holder | undefined): Recorded {
    const { from, to, text, partial, parts } = arrival;
    const carrier = carrierNameOf(source.key);
    const numbers = all.filter((each) => phoneOf === undefined || each.applicationId === phoneOf.applicationId);
    const own = holderOf(numbers, { to, text, carrier });
    const holders = holdersOf(numbers, to, carrier);
    const holder = own ?? phoneOf;
    const ignored = own?.ignoredWords ?? [];
    const word = partial ? undefined : wordOf(text, ignored);
    const segments = measure(text);
    const keyword = own?.keyword ?? null;
    const record: Inbound = {
      id: newId('inb', clock),
      applicationId: holder?.applicationId ?? null,
      api: holder?.api ?? null,
      carrier: source.key,
      from,
      to,
      body: text,
      encoding: segments.encoding,
      segmentCount: Math.max(parts, segments.count),
      characters: segments.characters,
      remaining: segments.remaining,
      keyword,
      partial,
      possibleOptOut: word === undefined && mayMeanStop(text, keyword, ignored),
      receivedAtMs: clock.nowMs(),
    };
    const isOwn = all.some(({ number }) => number === from);
    // In the sandbox anyone can text as any sender, so a virtual phone opts out of other applications only at assigned
    // numbers.
    const everyone = phoneOf === undefined || holders.length > 0 ? [{ ...senderScope(to), notified: null }] : [];
    const scopes = [
      ...everyone,
      ...applicationScopes([...(own ? [own] : []), ...(phoneOf ? [phoneOf] : []), ...holders]),
    ];
    return { arrival, record, word, scopes, holder: holder ?? holders[0], isOwn };
  }

  /** Writes complete texts, and handles their keywords in the order of arrival. */
  async function keep(tx: Tx, source: InboundSource, arrivals: Arrival[], phoneOf?: Holder) {
    const approved: Approved[] = [];
    const others: Arrival[] = [];
    for (const arrival of arrivals) {
      const verificationId = arrival.partial ? undefined : await approve(tx, { ...arrival, carrier: source.key });
      if (verificationId === undefined) others.push(arrival);
      else approved.push({ arrival, verificationId });
    }
    if (others.length === 0) return { records: [], answers: 0, approved };
    const numbers = await findNumbers(tx, [...new Set(others.flatMap(({ from, to }) => [from, to]))]);
    const recorded = others.map((arrival) => recordOf(arrival, source, numbers, phoneOf));
    const records = recorded.map(({ record }) => record);
    await insertInbound(tx, records);
    let answers = 0;
    for (const { record, word, scopes, holder, isOwn } of recorded) {
      if (word === undefined) continue;
      if (await handleKeyword(tx, { text: record, word, scopes, holder, source, isOwn })) answers++;
    }
    return { records, answers, approved };
  }

  /** The person's wish counts even if the carrier repeats an old text, or the first one was followed by a start word. */
  async function stopAgain(tx: Tx, source: InboundSource, repeats: InboundText[], phoneOf?: Holder): Promise<void> {
    const stops = repeats.filter(({ part, text }) => part === null && wordOf(text)?.kind === 'stop');
    if (stops.length === 0) return;
    const numbers = await findNumbers(tx, [...new Set(stops.map(({ to }) => to))]);
    for (const { from, to, text } of stops) {
      const { record, word, scopes } = recordOf({ from, to, text, parts: 1, partial: false }, source, numbers, phoneOf);
      if (word?.kind === 'stop') await stop(tx, { text: record, word, scopes });
    }
  }

  function lockPhones(tx: Tx, texts: { from: string; text: string }[]): Promise<void> {
    const phones = texts.filter(({ text }) => wordOf(text) !== undefined).map(({ from }) => from);
    return options.optOuts.lock(tx, phones);
  }

  /** Two nodes may get parts of one text, or texts of one phone, at the same time. */
  function transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result> {
    return retryCollisions(() => database.transaction(work));
  }

  async function receiveAll(source: InboundSource, given: InboundText[], phoneOf?: Holder) {
    const texts = given.map(readText);
    const kept = await transaction(async (tx) => {
      const nowMs = clock.nowMs();
      const { fresh, repeats } = await separateRepeats(tx, keys, { account: source.account, texts, nowMs });
      const joined = await joinParts(tx, source.key, fresh.filter(isPart), nowMs);
      const whole = fresh.filter((text) => !isPart(text)).map(toArrival);
      const arrivals = [...joined, ...whole];
      await lockPhones(tx, [...arrivals, ...repeats]);
      await stopAgain(tx, source, repeats, phoneOf);
      return keep(tx, source, arrivals, phoneOf);
    });
    if (kept.answers > 0) wake([source.key]);
    return kept;
  }

  return {
    receive: async (source, texts, phoneOf) => (await receiveAll(source, texts, phoneOf)).records,

    async reply(source, text, phoneOf) {
      const { records, approved } = await receiveAll(source, [text], phoneOf);
      return { record: records[0], verificationId: approved[0]?.verificationId };
    },

    async deliverIncomplete() {
      const beforeMs = clock.nowMs() - partsKeptMs;
      const old = await findOldLongTexts(database, beforeMs, mostIncomplete);
      for (const long of old) {
        await transaction(async (tx) => {
          const arrival = await takeIncomplete(tx, long, beforeMs);
          // The text is partial, so no keyword in it is handled.
          if (arrival !== undefined) await keep(tx, { key: long.carrier, account: '' }, [arrival]);
        });
      }
      return old.length;
    },
  };
}

/** One scope for each application. Its event belongs to the API of the application's first number. */
function applicationScopes(holders: Holder[]): NotifiedScope[] {
  const notified = new Map<string, Holder>();
  for (const { applicationId, api } of holders)
    if (!notified.has(applicationId)) notified.set(applicationId, { applicationId, api });
  return [...notified.values()].map((each) => ({ ...applicationScope(each.applicationId), notified: each }));
}

function isPart(text: InboundText): text is PartText {
  return text.part !== null;
}

function toArrival({ from, to, text }: InboundText): Arrival {
  return { from, to, text: readableText(text), parts: 1, partial: false };
}

const [highestReference, mostParts] = [0xffff, 0xff];

/** Makes a carrier's data storable. An invalid part counts as a whole text. */
function readText(given: InboundText): InboundText {
  const { carrierMessageId, text, part } = given;
  const isRightPart =
    part !== null &&
    isWithin(part.reference, 0, highestReference) &&
    isWithin(part.total, 2, mostParts) &&
    isWithin(part.part, 1, part.total);
  return {
    // An id without a storable character counts as missing.
    carrierMessageId: readCarrierId(carrierMessageId ?? '') || null,
    from: canonicalNumber(readableAddress(given.from)),
    to: canonicalNumber(readableAddress(given.to)),
    // A surrogate pair that was cut in two may become whole again when the parts are joined.
    text: isRightPart ? text.slice(0, longestPart) : readableText(text),
    part: isRightPart ? { ...part, width: part.width === 8 ? 8 : 16 } : null,
  };
}

/** Longer than a part in any encoding. */
const longestPart = 2048;

function isWithin(value: number, lowest: number, highest: number): boolean {
  return Number.isInteger(value) && value >= lowest && value <= highest;
}
