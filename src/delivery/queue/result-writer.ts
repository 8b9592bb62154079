// Tests: test/parts/partly-sent-texts.test.ts, test/smpp/database-away.test.ts
import type { Database } from '../../platform/database/database.ts';
import { sqlStateOf } from '../../platform/database/errors.ts';
import { ApiError } from '../../platform/errors.ts';
import { fromUuid } from '../../platform/ids.ts';
import type { Log } from '../../platform/log.ts';
import type { WakeableSleep } from '../../platform/work/wakeable-sleep.ts';
import type { Claim, EndedText, QueueEntry, ScheduledText } from '../attempts/queued-text.ts';
import type { ClaimResults } from './result-statement.ts';
import { recordClaim } from './result-store.ts';

/** A claim while its results are written. */
export interface WrittenClaim {
  id: number;
  revision: number;
  /** The entries as the claim's row has them. */
  entries: QueueEntry[];
  /** Entries that stay in the row until the lease ends, because their results cannot be stored. */
  unrecorded: QueueEntry[];
}

export function toWritten({ id, revision, texts }: Claim): WrittenClaim {
  return { id, revision, entries: texts.map(({ entry }) => entry), unrecorded: [] };
}

export interface ResultWriterOptions {
  database: Database;
  log: Log;
  sleep: WakeableSleep;
}

const writeAgainAfterMs = 200;
/** After this many timeouts a statement counts as too large. */
const mostTimeouts = 3;

/** Writes the results of claims, and retries while the database is away. */
export function createResultWriter({ database, log, sleep }: ResultWriterOptions) {
  let unwritten = 0;

  /**
   * Retries until the database is back: an unrecorded result would cause a second send. Returns an error that a retry cannot
   * fix.
   */
  async function record(claim: WrittenClaim, results: ClaimResults, remaining: QueueEntry[]): Promise<unknown> {
    const kept = [...remaining, ...claim.unrecorded];
    let failures = 0;
    try {
      for (;;) {
        const error = await recordClaim(database, claim, results, kept).catch((reason: unknown) => reason);
        if (error === undefined) {
          claim.revision++;
          return undefined;
        }
        if (!isPassing(error) || (isTimeout(error) && failures >= mostTimeouts && sizeOf(results) > 1)) return error;
        if (sleep.stopped) throw error;
        if (failures++ === 0) unwritten++;
        await sleep.ignoringWakes(writeAgainAfterMs);
      }
    } finally {
      if (failures > 0) unwritten--;
    }
  }

  /** Halving finds the one row that Postgres refuses: the results beside it are recorded. */
  async function write(claim: WrittenClaim, results: ClaimResults, remaining: QueueEntry[]): Promise<void> {
    const error = await record(claim, results, remaining);
    if (error === undefined) return;
    if (sizeOf(results) === 0) throw error;
    if (sizeOf(results) === 1) return writeBare(claim, results, remaining, error as Error);
    const [first, second] = halvesOf(results);
    await write(claim, first, [...remaining, ...entriesOf(claim, second)]);
    await write(claim, second, remaining);
  }

  /** Writes a result without the carrier's id and words, which Postgres may have refused. */
  async function writeBare(
    claim: WrittenClaim,
    results: ClaimResults,
    remaining: QueueEntry[],
    { message: reason }: Error,
  ): Promise<void> {
    const [entry] = entriesOf(claim, results);
    const about = { carrier: results.carrier, message_id: entry && fromUuid('msg', entry.messageId), reason };
    const error = await record(claim, withoutDetails(results), remaining);
    if (error === undefined) {
      log.error(about, "a result was recorded without the carrier's id and words: Postgres refused them");
      return;
    }
    if (entry !== undefined) claim.unrecorded.push(entry);
    log.error(about, 'a result could not be recorded: its text is in doubt when the lease ends');
  }

  return {
    /** True while the database takes no results: further claims would only pile up unrecorded. */
    get held(): boolean {
      return unwritten > 0;
    },
    /** The claim is closed, or keeps `remaining`: the texts that the carrier still has. */
    write,
  };
}

function isPassing(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'UNAVAILABLE';
}

function isTimeout(error: unknown): boolean {
  return /^(57014|55P03)$/.test(sqlStateOf(error) ?? '');
}

function sizeOf({ ended, again }: ClaimResults): number {
  return ended.length + again.length;
}

function halvesOf(results: ClaimResults): [ClaimResults, ClaimResults] {
  const { ended, again } = results;
  const middle = sizeOf(results) >> 1;
  const ofAgain = Math.max(0, middle - ended.length);
  return [
    { ...results, ended: ended.slice(0, middle), again: again.slice(0, ofAgain) },
    { ...results, ended: ended.slice(middle), again: again.slice(ofAgain) },
  ];
}

/** The entries of these results as the claim's row has them. */
function entriesOf({ entries }: WrittenClaim, { ended, again }: ClaimResults): QueueEntry[] {
  const ids = new Set([...ended, ...again].map(({ entry }) => entry.messageId));
  return entries.filter(({ messageId }) => ids.has(messageId));
}

/** Keeps the parts that the carrier has: otherwise they would be sent again, perhaps by another carrier. */
function withoutDetails(results: ClaimResults): ClaimResults {
  const bare = <Text extends EndedText | ScheduledText>(text: Text): Text => ({
    ...text,
    long: text.long && { ...text.long, parts: text.long.parts.map((part) => ({ ...part, ...noIds })) },
    attempt: undefined,
  });
  return {
    ...results,
    account: undefined,
    ended: results.ended.map((text) => ({ ...bare(text), ...noIds })),
    again: results.again.map(bare),
  };
}

const noIds = { carrierMessageId: null, receiptKey: null };
