/** The result of one poll. A crash of Postgres ends the statement, so all values are from one run of Postgres. */
export interface Poll {
  /** The newest assigned position. */
  last: number;
  /** Ids of transactions that may have taken an earlier position and have not committed yet. */
  writers: ReadonlySet<string>;
  /** How far Postgres had written its log after `last` was read, and how far the log was on disk. */
  loggedTo: number;
  onDiskTo: number;
  /** When the oldest of our connections was opened. A crash ends them all, so it differs between runs of Postgres. */
  oldestConnection: string;
}

/** The conclusions from the polls so far. */
export interface View {
  /** No event can appear up to this position, even after a crash. */
  safe: number;
  /** A poll that is not fully proved yet. */
  earlier: Poll | undefined;
  /** True if only the log is missing: the next poll flushes it to disk. */
  lacksLog: boolean;
}

export const firstView: View = { safe: 0, earlier: undefined, lacksLog: false };

/**
 * The position of a poll is safe when its writers have ended, so that their commits are visible, and its log is on
 * disk, so that Postgres cannot assign these positions again after a crash.
 */
export function learn({ safe, earlier }: View, made: Poll): View {
  const upTo = (position: number) => Math.max(safe, position);
  if (made.writers.size === 0 && made.onDiskTo >= made.loggedTo)
    return { safe: upTo(made.last), earlier: undefined, lacksLog: false };
  // After a crash the log continues from an earlier offset and transaction ids are used again, so polls cannot be
  // compared.
  if (earlier === undefined || earlier.oldestConnection !== made.oldestConnection)
    return { safe, earlier: made, lacksLog: false };
  if (!haveEnded(earlier.writers, made.writers)) return { safe, earlier, lacksLog: false };
  if (made.onDiskTo < earlier.loggedTo) return { safe, earlier, lacksLog: true };
  return { safe: upTo(earlier.last), earlier: made, lacksLog: false };
}

function haveEnded(writers: ReadonlySet<string>, running: ReadonlySet<string>): boolean {
  for (const writer of writers) if (running.has(writer)) return false;
  return true;
}
