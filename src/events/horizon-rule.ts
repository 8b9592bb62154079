/** What one look at the database has seen. All of it is of one life of Postgres: a crash ends the statement. */
export interface Look {
  /** The newest position that was taken. */
  last: number;
  /** The ids of the transactions that may have taken one up to it and not committed yet. */
  writers: ReadonlySet<string>;
  /** How far Postgres had written its log after `last` was read, and how far the log was on disk. */
  loggedTo: number;
  onDiskTo: number;
  /** When the oldest of our connections was opened. A crash ends all of them, so it changes with every life of Postgres. */
  oldestConnection: string;
}

/** What the looks so far prove. */
export interface View {
  /** No event can appear any more up to this position, whatever crashes. */
  safe: number;
  /** A look of which not all is proved yet. */
  earlier: Look | undefined;
  /** True if only the log is missing: the next look writes it to disk. */
  lacksLog: boolean;
}

export const firstView: View = { safe: 0, earlier: undefined, lacksLog: false };

/**
 * Two things must hold of a look before readers go up to its position: its writers have ended, so that what they committed
 * can be seen; and the log of that moment is on disk, so that no crash lets Postgres give these positions out again.
 */
export function learn({ safe, earlier }: View, made: Look): View {
  const upTo = (position: number) => Math.max(safe, position);
  if (made.writers.size === 0 && made.onDiskTo >= made.loggedTo)
    return { safe: upTo(made.last), earlier: undefined, lacksLog: false };
  // After a crash the log goes on from an earlier place, and ids of transactions are used again: nothing can be compared.
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
