// Tests: test/contract/guard-conversion.test.ts, test/contract/operator-totals.test.ts, test/contract/analytics.test.ts
import type { Channel } from '../messages/channel.ts';
import { findSentTexts, type SentText } from '../messages/sent-text-store.ts';
import { type Clock, dayMs, hourMs } from '../platform/clock.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import { addVerifications, type EndedVerification } from './analytics/verification-store.ts';
import { addBlockedStarts } from './blocked-start-store.ts';
import { readTroubles } from './carrier-trouble.ts';
import { countedCarrier } from './channel-key.ts';
import type { CountedCode } from './conversion/count.ts';
import type { BlockedStart, ConversionWatch } from './conversion/watch.ts';
import { createCountries } from './country-of.ts';
import { addToDays, type DayKey, dayColumns } from './total-store.ts';

export interface CodeOutcomesOptions {
  database: Database;
  clock: Clock;
  /** Takes the next ended verifications in this transaction; `read` is 0 when there are none. */
  walkEnded: (tx: Tx, nowMs: number) => Promise<EndedCodes>;
  /** Returns the texts (uuids) that more than one carrier had. */
  findShared: (tx: Tx, textIds: string[]) => Promise<Set<string>>;
  /** Counts numbers for the guard; undefined in the sandbox. */
  conversions: ConversionWatch | undefined;
}

export interface EndedCodes {
  read: number;
  codes: EndedCode[];
  /** Codes that were read before, and whose outcome came since. */
  late?: (EndedCode & { wasCounted: boolean })[];
  blocked: RefusedStart[];
}

export interface EndedCode extends CountedCode {
  channel: Channel;
  textIds: string[];
}

/** A start that the guard blocked. */
export interface RefusedStart extends BlockedStart {
  rule: string;
}

/** The guard counts a number once a day, so an older code would count as another number. */
const lateCountsMs = 23 * hourMs;

const codesIndex = dayColumns.indexOf('codes');
const approvedIndex = dayColumns.indexOf('approved');

/**
 * Counts the quality of carriers: how many codes that a single carrier sent were typed in. For the guard it counts the
 * numbers that got a code, and for analytics every verification. One transaction with the progress of the walk, so each
 * verification counts once. Returns how many it read.
 */
export function createCodeOutcomes(options: CodeOutcomesOptions) {
  const { database, clock, walkEnded, findShared, conversions } = options;
  const countryOf = createCountries();

  /** The codes that reached a phone, as far as we know. */
  async function findArrived(tx: Tx, codes: EndedCode[], texts: Map<string, SentText>): Promise<EndedCode[]> {
    // A person who texted us got no code. Counting such numbers would hide those that get codes and enter none.
    const readable = codes.filter((code) => isReadable(code) && code.channel !== 'inbound');
    const sentAt = readable.map(({ startedAtMs }) => startedAtMs);
    const inTrouble = await readTroubles(tx, Math.min(...sentAt, clock.nowMs()), clock.nowMs());
    const hasArrived = (text: SentText | undefined) =>
      text !== undefined &&
      (text.isDelivered || (text.isUnderway && !inTrouble({ ...text, country: countryOf(text.to) })));
    return readable.filter(({ approved, textIds }) => approved || textIds.some((id) => hasArrived(texts.get(id))));
  }

  return (): Promise<number> =>
    database.transaction(async (tx) => {
      const { read, codes, late = [], blocked } = await walkEnded(tx, clock.nowMs());
      const counted = [...codes.map((each) => ({ ...each, wasCounted: false })), ...late];
      const ids = counted.flatMap(({ textIds }) => textIds);
      const texts = new Map((await findSentTexts(tx, ids)).map((text) => [text.id, text]));
      const shared = ids.length === 0 ? new Set<string>() : await findShared(tx, ids);
      const rows = new Map<string, { key: DayKey; counts: Float64Array }>();
      const ended: EndedVerification[] = [];
      for (const { approved, wasCounted, textIds, applicationId, to, startedAtMs: atMs, channel } of counted) {
        const sent = textIds.flatMap((id) => texts.get(id) ?? []);
        const [first] = sent;
        const isLikeFirst = (text: SentText) => text.carrier === first?.carrier && text.channel === first.channel;
        const isOfOne = sent.every((text) => isLikeFirst(text) && !shared.has(text.id));
        const carrier = countedCarrier(isOfOne ? (first?.carrier ?? '') : '', channel);
        const key = { applicationId, atMs, carrier, sender: first?.sender ?? '', country: countryOf(to) };
        ended.push({ ...key, approved, wasCounted });
        if (first === undefined || !isOfOne) continue;
        if (!wasCounted) for (const text of sent) count(text, codesIndex);
        if (approved) count(first, approvedIndex);
      }
      function count({ to, sender, applicationId, sentAtMs, ...text }: SentText, index: number): void {
        const carrier = countedCarrier(text.carrier, text.channel);
        const key = { dayMs: sentAtMs - (sentAtMs % dayMs), carrier, country: countryOf(to), sender, applicationId };
        const id = JSON.stringify(key);
        const row = rows.get(id) ?? { key, counts: new Float64Array(dayColumns.length) };
        rows.set(id, row);
        row.counts[index] = (row.counts[index] ?? 0) + 1;
      }
      await addToDays(tx, [...rows.values()]);
      await addVerifications(tx, ended);
      await addBlockedStarts(tx, blocked);
      if (conversions !== undefined && read > 0) {
        const heldBack = blocked.filter((start) => start.rule === 'suspected_pumping' && isReadable(start));
        const sinceMs = clock.nowMs() - lateCountsMs;
        const recent = late.filter(({ startedAtMs }) => startedAtMs > sinceMs);
        await conversions.count(tx, await findArrived(tx, [...codes, ...recent], texts), heldBack);
      }
      return read;
    });
}

/** The number of a deleted person is masked. */
function isReadable({ to }: BlockedStart): boolean {
  return !to.includes('•');
}
