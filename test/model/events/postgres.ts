/**
 * What of Postgres decides about positions: a sequence that logs some values ahead, a log that loses its unwritten end in a
 * crash, and transactions. Places in the log count from what is on disk: that is place 0, and all before it too.
 */
export interface Postgres {
  /** The newest position that was given out. */
  last: number;
  /** What a read without a lock sees in the middle of giving out a position. */
  shown: number | undefined;
  /** How many more positions are covered by the sequence's newest record in the log. */
  ahead: number;
  /** False after a checkpoint: then the next position is logged again. */
  isLogged: boolean;
  /** What the log has behind what is on disk, each with its place: the position from which a crash would let it go on. */
  records: { place: number; last: number }[];
  /** How far the log was written. */
  loggedTo: number;
  /** Where the sequence would go on after a crash now. */
  lastOnDisk: number;
  nextXid: number;
  nextXidOnDisk: number;
  /** Counts the crashes. A connection is of one life. */
  life: number;
}

/** The real sequence logs 32 values ahead. */
export const valuesAhead = 1;

export const firstPostgres: Postgres = {
  last: 0,
  shown: undefined,
  ahead: 0,
  isLogged: false,
  records: [],
  loggedTo: 0,
  lastOnDisk: 0,
  nextXid: 1,
  nextXidOnDisk: 1,
  life: 0,
};

/** Whether the next position needs a record in the log: `nextval` then shows another value for a moment. */
export function logsNext({ ahead, isLogged }: Postgres): boolean {
  return ahead === 0 || !isLogged;
}

/** The first half of `nextval`: the page holds what goes to the log. */
export function beginTake(pg: Postgres): Postgres {
  return { ...pg, shown: pg.last + 1 + valuesAhead };
}

/** The rest of `nextval`. */
export function take(pg: Postgres): Postgres {
  const last = pg.last + 1;
  return logsNext(pg) ? setLast(pg, last, valuesAhead) : { ...pg, last, ahead: pg.ahead - 1 };
}

/** `setval`, which logs nothing ahead. */
export function setLast(pg: Postgres, last: number, ahead = 0): Postgres {
  const place = pg.loggedTo + 1;
  const records = [...pg.records, { place, last: last + ahead }];
  return { ...pg, last, shown: undefined, ahead, isLogged: true, records, loggedTo: place };
}

export function takeXid(pg: Postgres): Postgres {
  return { ...pg, nextXid: pg.nextXid + 1 };
}

/** Another process writes to the log. */
export function write(pg: Postgres): Postgres {
  return { ...pg, loggedTo: pg.loggedTo + 1 };
}

/** Brings the log up to a place to disk. The caller moves its own places by as much: `place - upTo`, at least 0. */
export function flush(pg: Postgres, upTo: number): Postgres {
  const { records, loggedTo } = pg;
  const written = records.filter(({ place }) => place <= upTo);
  return {
    ...pg,
    lastOnDisk: written.at(-1)?.last ?? pg.lastOnDisk,
    records: records.slice(written.length).map(({ place, last }) => ({ place: place - upTo, last })),
    loggedTo: loggedTo - upTo,
    nextXidOnDisk: pg.nextXid,
  };
}

/** All of the log is on disk, and the page of the sequence itself: not what was logged ahead. */
export function checkpoint(pg: Postgres): Postgres {
  return { ...flush(pg, pg.loggedTo), lastOnDisk: pg.last, isLogged: false };
}

/** What was not on disk has never been: positions and ids of transactions are given out again. */
export function crash(pg: Postgres): Postgres {
  const { lastOnDisk, nextXidOnDisk, life } = pg;
  return { ...firstPostgres, last: lastOnDisk, lastOnDisk, nextXid: nextXidOnDisk, nextXidOnDisk, life: life + 1 };
}
