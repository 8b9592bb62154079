import type { Step } from '../explore.ts';
import * as postgres from './postgres.ts';
import { type Change, flushed, type State } from './state.ts';

/** What is known of a change that is over. */
const ended = { stage: 'ended', xid: 0, position: 0, place: 0 } as const;
/** The first position of the next day. */
const nextDay = 100;

/** `insertEvents`, as a part of a statement that changes a record. */
export function changeSteps(state: State, index: number, readsUnderLock: boolean): Step<State>[] {
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

/** The event can be seen from now on. A reader with a later cursor will never read it. */
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
export function daySteps(state: State): Step<State>[] {
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

export function postgresSteps(state: State): Step<State>[] {
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

/** Polls under way fail; nodes go on with what they know. What had its commit on disk has committed. */
function crashed(state: State): State {
  const { left, changes, day } = state;
  let next: State = {
    ...state,
    pg: postgres.crash(state.pg),
    left: { ...left, crashes: left.crashes - 1 },
    day: day.stage === 'set' ? { stage: day.place === 0 ? 'done' : 'no', xid: 0, place: 0 } : day,
    nodes: state.nodes.map(({ view }) => ({ view, poll: undefined })),
    readers: state.readers.map(({ cursor }) => ({ cursor, wants: undefined })),
  };
  changes.forEach(({ record, stage, place }, index) => {
    if (stage === 'committing' && place === 0) next = appear(next, index);
    else if (stage !== 'waits') next = { ...next, changes: next.changes.with(index, { record, ...ended }) };
  });
  return next;
}
