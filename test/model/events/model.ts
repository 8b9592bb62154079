import { firstView, type Look, learn, type View } from '../../../src/events/horizon-rule.ts';
import type { Step } from '../explore.ts';
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

interface LookUnderWay extends Partial<Look> {
  last: number;
}

/** A node's horizon. */
interface Node {
  view: View;
  look: LookUnderWay | undefined;
}

interface Reader {
  /** Everything up to here was read. Undefined for one that has not begun. */
  cursor: number | undefined;
  /** For one that begins now: the newest position of its node's first look. */
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
  /** What else may happen so many times. */
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
  /** Whether a look waits while a position is being given out. */
  readsUnderLock: boolean;
  /** The old limit needs neither of these to be found, so a test can leave them out. */
  invariants: (state: State) => string | undefined;
}

export const rules: Rules = { learn, readsUnderLock: true, invariants: brokenOrAhead };

/** What is known of a change that is over. */
const ended = { stage: 'ended', xid: 0, position: 0, place: 0 } as const;
/** The first position of the next day. */
const nextDay = 100;

export function firstState({ changes, nodes, readers, day, left }: Bounds): State {
  return {
    pg: postgres.firstPostgres,
    changes: changes.map((record) => ({ record, stage: 'waits', xid: 0, position: 0, place: 0 })),
    day: { stage: day ? 'no' : 'done', xid: 0, place: 0 },
    events: [],
    nodes: Array.from({ length: nodes }, () => ({ view: firstView, look: undefined })),
    readers: readers.map((from) => ({ cursor: from === 'oldest' ? 0 : undefined, wants: undefined })),
    left,
  };
}

export function stepsOf({ learn, readsUnderLock }: Rules): (state: State) => Step<State>[] {
  return (state) =>
    state.broken === undefined
      ? [
          ...state.changes.flatMap((_, index) => changeSteps(state, index, readsUnderLock)),
          ...daySteps(state),
          ...postgresSteps(state),
          ...state.nodes.flatMap((_, index) => lookSteps(state, index, { learn, readsUnderLock })),
          ...state.readers.flatMap((_, index) => readerSteps(state, index)),
        ]
      : [];
}

/** `insertEvents`, as a part of a statement that changes a record. */
function changeSteps(state: State, index: number, readsUnderLock: boolean): Step<State>[] {
  const { pg, changes } = state;
  const change = changes[index] as Change;
  const named = (name: string) => `change ${index + 1} of record ${change.record} ${name}`;
  const put = (to: Partial<Change>, more: Partial<State> = {}): State => ({
    ...state,
    ...more,
    changes: changes.with(index, { ...change, ...to }),
  });
  const isBusy = changes.some(({ stage }) => stage === 'taking');
  const rollBack = { name: named('rolls back'), next: put(ended) };
  switch (change.stage) {
    case 'waits': {
      // Changes of one record are alike: they begin in their order.
      const isLocked = changes.some(
        ({ record, stage }, other) => record === change.record && other < index && stage !== 'ended',
      );
      return isLocked
        ? []
        : [{ name: named('begins'), next: put({ stage: 'begun', xid: pg.nextXid }, { pg: postgres.takeXid(pg) }) }];
    }
    case 'begun':
      if (isBusy) return [rollBack];
      // Who reads under the lock never sees the middle of it.
      return postgres.logsNext(pg) && !readsUnderLock
        ? [
            rollBack,
            {
              name: named('begins to take a position'),
              next: put({ stage: 'taking' }, { pg: postgres.beginTake(pg) }),
            },
          ]
        : [rollBack, { name: named('takes a position'), next: taken(put, pg) }];
    case 'taking':
      return [{ name: named('takes a position, and logs it'), next: taken(put, pg) }];
    case 'taken': {
      const written = postgres.write(pg);
      return [
        rollBack,
        {
          name: named('writes its commit'),
          next: put({ stage: 'committing', place: written.loggedTo }, { pg: written }),
        },
      ];
    }
    case 'committing':
      return [{ name: named('has committed'), next: appear(flushed(state, change.place), index) }];
    case 'ended':
      return [];
  }
}

function taken(put: (to: Partial<Change>, more: Partial<State>) => State, pg: postgres.Postgres): State {
  const after = postgres.take(pg);
  return put({ stage: 'taken', position: after.last }, { pg: after });
}

/** The event can be seen from now on. Whoever has a cursor behind it will never read it. */
function appear(state: State, index: number): State {
  const { position, record } = state.changes[index] as Change;
  const { events, readers, changes } = state;
  const next = {
    ...state,
    changes: changes.with(index, { record, ...ended }),
    events: [...events, { position, record }].sort((a, b) => a.position - b.position),
  };
  if (events.some((event) => event.position === position))
    return { ...next, broken: `two events have position ${position}` };
  if (events.some((event) => event.record === record && event.position > position))
    return { ...next, broken: `the events of record ${record} are not in the order of its changes` };
  const reader = readers.findIndex(({ cursor }) => cursor !== undefined && cursor >= position);
  return reader < 0 ? next : { ...next, broken: `reader ${reader + 1} skips the event at ${position}` };
}

/** `beginDay`. */
function daySteps(state: State): Step<State>[] {
  const { pg, day, changes } = state;
  if (day.stage === 'no' && !changes.some(({ stage }) => stage === 'taking')) {
    const set = postgres.setLast(postgres.takeXid(pg), nextDay);
    const written = postgres.write(set);
    return [
      {
        name: 'a day begins',
        next: { ...state, pg: written, day: { stage: 'set', xid: pg.nextXid, place: written.loggedTo } },
      },
    ];
  }
  if (day.stage !== 'set') return [];
  const after = flushed(state, day.place);
  return [{ name: 'the day has committed', next: { ...after, day: { ...after.day, stage: 'done' } } }];
}

function postgresSteps(state: State): Step<State>[] {
  const { pg, left, changes } = state;
  const steps: Step<State>[] = [];
  const isBusy = changes.some(({ stage }) => stage === 'taking');
  if (pg.loggedTo > 0) steps.push({ name: 'Postgres brings its log to disk', next: flushed(state, pg.loggedTo) });
  if (left.writes > 0)
    steps.push({
      name: 'another writes to the log',
      next: { ...state, pg: postgres.write(pg), left: { ...left, writes: left.writes - 1 } },
    });
  if (left.checkpoints > 0 && !isBusy) {
    const after = flushed(state, pg.loggedTo);
    steps.push({
      name: 'checkpoint',
      next: { ...after, pg: postgres.checkpoint(after.pg), left: { ...left, checkpoints: left.checkpoints - 1 } },
    });
  }
  if (left.crashes > 0) steps.push({ name: 'Postgres crashes', next: crashed(state) });
  return steps;
}

/** All places count from what is on disk. */
function flushed(state: State, upTo: number): State {
  if (upTo === 0) return state;
  const back = (place: number) => Math.max(0, place - upTo);
  return {
    ...state,
    pg: postgres.flush(state.pg, upTo),
    changes: state.changes.map((change) => ({ ...change, place: back(change.place) })),
    day: { ...state.day, place: back(state.day.place) },
    nodes: state.nodes.map(({ view, look }) => ({
      view:
        view.earlier === undefined
          ? view
          : { ...view, earlier: { ...view.earlier, loggedTo: back(view.earlier.loggedTo) } },
      look: look?.loggedTo === undefined ? look : { ...look, loggedTo: back(look.loggedTo) },
    })),
  };
}

/** Looks under way fail; nodes go on with what they know. What had its commit on disk has committed. */
function crashed(state: State): State {
  const { left, changes, day } = state;
  let next: State = {
    ...state,
    pg: postgres.crash(state.pg),
    left: { ...left, crashes: left.crashes - 1 },
    day: day.stage === 'set' ? { stage: day.place === 0 ? 'done' : 'no', xid: 0, place: 0 } : day,
    nodes: state.nodes.map(({ view }) => ({ view, look: undefined })),
    readers: state.readers.map(({ cursor }) => ({ cursor, wants: undefined })),
  };
  changes.forEach(({ record, stage, place }, index) => {
    if (stage === 'committing' && place === 0) next = appear(next, index);
    else if (stage !== 'waits') next = { ...next, changes: next.changes.with(index, { record, ...ended }) };
  });
  return next;
}

/** `lookAt` and `learn`. The statement reads the position first, and then the writers and the log. */
function lookSteps(
  state: State,
  index: number,
  { learn, readsUnderLock }: Pick<Rules, 'learn' | 'readsUnderLock'>,
): Step<State>[] {
  const { pg, changes, day, nodes, readers } = state;
  const node = nodes[index] as Node;
  const named = (name: string) => `node ${index + 1} ${name}`;
  const put = (to: Partial<Node>, more: Partial<State> = {}): State => ({
    ...state,
    ...more,
    nodes: nodes.with(index, { ...node, ...to }),
  });
  const { view, look } = node;
  if (look === undefined) {
    if (readsUnderLock && pg.shown !== undefined) return [];
    return [
      {
        name: named('looks at the newest position'),
        next: put({ look: { last: readsUnderLock ? pg.last : (pg.shown ?? pg.last) } }),
      },
    ];
  }
  if (look.writers === undefined) {
    const running = changes.filter(({ stage }) => stage !== 'waits' && stage !== 'ended').map(({ xid }) => String(xid));
    const writers = new Set(day.stage === 'set' ? [...running, String(day.xid)] : running);
    const seen = {
      ...look,
      writers,
      loggedTo: pg.loggedTo,
      onDiskTo: 0,
      connection: String(pg.life),
      followsOn: view.earlier?.connection === String(pg.life),
    };
    // `writingLookStatement`: it ends with a commit of its own.
    return view.lacksLog
      ? [
          {
            name: named('looks at the writers, and writes to the log'),
            next: put({ look: seen }, { pg: postgres.write(pg) }),
          },
        ]
      : [{ name: named('looks at the writers and the log'), next: learned(put, view, seen, readers, index, learn) }];
  }
  const after = flushed(state, pg.loggedTo);
  const again = (to: Partial<Node>, more: Partial<State> = {}): State => ({
    ...after,
    ...more,
    nodes: after.nodes.with(index, { ...(after.nodes[index] as Node), ...to }),
  });
  const mended = after.nodes[index] as Node;
  const made = { ...(mended.look as Look), onDiskTo: Number.POSITIVE_INFINITY };
  return [
    { name: named('has brought the log to disk'), next: learned(again, mended.view, made, readers, index, learn) },
  ];
}

function learned(
  put: (to: Partial<Node>, more: Partial<State>) => State,
  view: View,
  made: Look,
  readers: Reader[],
  index: number,
  learn: Rules['learn'],
): State {
  const waiting = readers.map((reader) =>
    reader.wants?.node === index
      ? { ...reader, wants: { node: index, last: Math.min(reader.wants.last, made.last) } }
      : reader,
  );
  const begun = waiting.map((reader) =>
    reader.cursor === undefined && reader.wants === undefined
      ? { ...reader, wants: { node: index, last: made.last } }
      : reader,
  );
  return put({ view: learn(view, made), look: undefined }, { readers: begun });
}

/** `readAfter` and `readPage`: all events up to the horizon. `reachNow`: the first cursor of one that begins now. */
function readerSteps(state: State, index: number): Step<State>[] {
  const { cursor, wants } = state.readers[index] as Reader;
  const at = (to: number): State => ({
    ...state,
    readers: state.readers.with(index, { cursor: to, wants: undefined }),
  });
  if (cursor === undefined) {
    const safe = wants === undefined ? -1 : (state.nodes[wants.node] as Node).view.safe;
    return wants === undefined || safe < wants.last
      ? []
      : [{ name: `reader ${index + 1} begins behind ${wants.last}`, next: at(wants.last) }];
  }
  return state.nodes.flatMap(({ view }, node) =>
    view.safe > cursor
      ? [{ name: `reader ${index + 1} reads up to ${view.safe} at node ${node + 1}`, next: at(view.safe) }]
      : [],
  );
}

/** What is skipped, twice or out of order. */
export function brokenOnly({ broken }: State): string | undefined {
  return broken;
}

/** Also a cursor that a node would refuse, because no such position was ever given out. */
export function brokenOrAhead({ broken, pg, readers }: State): string | undefined {
  const ahead = readers.findIndex(({ cursor }) => cursor !== undefined && cursor > pg.last);
  return broken ?? (ahead < 0 ? undefined : `the cursor of reader ${ahead + 1} is ahead of every position`);
}

/** What decides about the future, in few characters. */
export function canonical({ pg, changes, day, events, nodes, readers, left, broken = '' }: State): string {
  const parts: unknown[] = [
    pg.last,
    pg.shown,
    pg.ahead,
    pg.isLogged,
    pg.loggedTo,
    pg.lastOnDisk,
    pg.nextXid,
    pg.nextXidOnDisk,
  ];
  parts.push(pg.life, left.crashes, left.checkpoints, left.writes, broken, day.stage, day.xid, day.place);
  for (const { place, last } of pg.records) parts.push(place, last);
  for (const { stage, xid, position, place } of changes) parts.push(stage, xid, position, place);
  for (const { position, record } of events) parts.push('e', position, record);
  for (const { view, look } of nodes)
    parts.push('n', view.safe, view.lacksLog, ...lookParts(view.earlier), ...lookParts(look));
  for (const { cursor, wants } of readers) parts.push('r', cursor, wants?.node, wants?.last);
  return parts.join();
}

function lookParts(look: LookUnderWay | undefined): unknown[] {
  return look === undefined ? [] : ['l', look.last, look.loggedTo, look.connection, ...(look.writers ?? ['?'])];
}
