import { firstView, type learn, type Poll, type View } from '../../../src/events/horizon-rule.ts';
import * as postgres from './postgres.ts';

/** A change of a record: a transaction that writes one event. */
export interface Change {
  record: number;
  stage: 'waits' | 'begun' | 'taking' | 'taken' | 'committing' | 'ended';
  xid: number;
  position: number;
  /** The place of its commit in the log. */
  place: number;
}

export interface PollUnderWay extends Partial<Poll> {
  last: number;
}

/** A node's horizon. */
export interface Node {
  view: View;
  poll: PollUnderWay | undefined;
}

export interface Reader {
  /** Everything up to here was read. Undefined for one that has not begun. */
  cursor: number | undefined;
  /** For one that begins now: the newest position of its node's first poll. */
  wants: { node: number; last: number } | undefined;
}

export interface State {
  pg: postgres.Postgres;
  changes: Change[];
  day: { stage: 'no' | 'set' | 'done'; xid: number; place: number };
  /** Events that can be seen. */
  events: { position: number; record: number }[];
  nodes: Node[];
  readers: Reader[];
  /** How many times other things may happen. */
  left: { crashes: number; checkpoints: number; writes: number };
  /** Set by the step that broke something. */
  broken?: string;
}

export interface Bounds {
  /** The record of each change. */
  changes: number[];
  nodes: number;
  /** Whether each reader begins now, and not with the first event. */
  readers: ('oldest' | 'now')[];
  day: boolean;
  left: State['left'];
}

/** What differs between the code as it is, and as it was. */
export interface Rules {
  learn: typeof learn;
  /** Whether a poll waits while a position is being given out. */
  readsUnderLock: boolean;
  /** What must hold. A cursor ahead of every position shows a fault some steps before an event is skipped. */
  invariants: (state: State) => string | undefined;
}

export function firstState({ changes, nodes, readers, day, left }: Bounds): State {
  return {
    pg: postgres.firstPostgres,
    changes: changes.map((record) => ({ record, stage: 'waits', xid: 0, position: 0, place: 0 })),
    day: { stage: day ? 'no' : 'done', xid: 0, place: 0 },
    events: [],
    nodes: Array.from({ length: nodes }, () => ({ view: firstView, poll: undefined })),
    readers: readers.map((from) => ({ cursor: from === 'oldest' ? 0 : undefined, wants: undefined })),
    left,
  };
}

/** All places count from what is on disk. */
export function flushed(state: State, upTo: number): State {
  if (upTo === 0) return state;
  const back = (place: number) => Math.max(0, place - upTo);
  return {
    ...state,
    pg: postgres.flush(state.pg, upTo),
    changes: state.changes.map((change) => ({ ...change, place: back(change.place) })),
    day: { ...state.day, place: back(state.day.place) },
    nodes: state.nodes.map(({ view, poll }) => ({
      view:
        view.earlier === undefined
          ? view
          : { ...view, earlier: { ...view.earlier, loggedTo: back(view.earlier.loggedTo) } },
      poll: poll?.loggedTo === undefined ? poll : { ...poll, loggedTo: back(poll.loggedTo) },
    })),
  };
}

/** What decides about the future, in few characters. */
export function canonical({ pg, changes, day, events, nodes, readers, left, broken = '' }: State): string {
  let form = `${pg.last} ${pg.shown} ${pg.ahead} ${pg.isLogged} ${pg.loggedTo} ${pg.lastOnDisk} ${pg.nextXid}`;
  form += ` ${pg.nextXidOnDisk} ${pg.life} ${left.crashes} ${left.checkpoints} ${left.writes} ${broken}`;
  form += ` ${day.stage} ${day.xid} ${day.place}`;
  for (const { place, last } of pg.records) form += ` ${place} ${last}`;
  for (const { stage, xid, position, place } of changes) form += `;${stage} ${xid} ${position} ${place}`;
  for (const { position, record } of events) form += `;e${position} ${record}`;
  for (const { view, poll } of nodes) form += `;n${view.safe} ${view.lacksLog}${formOf(view.earlier)}${formOf(poll)}`;
  for (const { cursor, wants } of readers) form += `;r${cursor} ${wants?.node} ${wants?.last}`;
  return form;
}

function formOf(poll: PollUnderWay | undefined): string {
  if (poll === undefined) return ' -';
  const { last, loggedTo, oldestConnection, writers } = poll;
  return ` ${last} ${loggedTo} ${oldestConnection} ${writers === undefined ? '?' : [...writers].join()}`;
}
