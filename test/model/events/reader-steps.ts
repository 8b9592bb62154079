import type { Poll, View } from '../../../src/events/horizon-rule.ts';
import type { Step } from '../explore.ts';
import * as postgres from './postgres.ts';
import { flushed, type Node, type Reader, type Rules, type State } from './state.ts';

/** `runPoll` and `learn`. The statement reads the position first, and then the writers and the log. */
export function pollSteps(
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
  const { view, poll } = node;
  if (poll === undefined) {
    if (readsUnderLock && pg.shown !== undefined) return [];
    return [
      {
        name: named('reads the newest position'),
        next: put({ poll: { last: readsUnderLock ? pg.last : (pg.shown ?? pg.last) } }),
      },
    ];
  }
  if (poll.writers === undefined) {
    const running = changes.filter(({ stage }) => stage !== 'waits' && stage !== 'ended').map(({ xid }) => String(xid));
    const writers = new Set(day.stage === 'set' ? [...running, String(day.xid)] : running);
    const seen = {
      ...poll,
      writers,
      loggedTo: pg.loggedTo,
      onDiskTo: 0,
      oldestConnection: String(pg.life),
    };
    // `writingLookStatement`: it ends with a commit of its own.
    return view.lacksLog
      ? [
          {
            name: named('reads the writers, and writes to the log'),
            next: put({ poll: seen }, { pg: postgres.write(pg) }),
          },
        ]
      : [{ name: named('reads the writers and the log'), next: learned(put, view, seen, readers, index, learn) }];
  }
  const after = flushed(state, pg.loggedTo);
  const again = (to: Partial<Node>, more: Partial<State> = {}): State => ({
    ...after,
    ...more,
    nodes: after.nodes.with(index, { ...(after.nodes[index] as Node), ...to }),
  });
  const mended = after.nodes[index] as Node;
  const made = { ...(mended.poll as Poll), onDiskTo: Number.POSITIVE_INFINITY };
  return [
    { name: named('has brought the log to disk'), next: learned(again, mended.view, made, readers, index, learn) },
  ];
}

function learned(
  put: (to: Partial<Node>, more: Partial<State>) => State,
  view: View,
  made: Poll,
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
  return put({ view: learn(view, made), poll: undefined }, { readers: begun });
}

/** `readAfter` and `readPage`: all events up to the horizon. `reachNow`: the first cursor of one that begins now. */
export function readerSteps(state: State, index: number): Step<State>[] {
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
