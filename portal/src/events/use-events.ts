import { useCallback, useEffect, useState } from 'react';
import { applicationPath, call, withQuery } from '../api/call.ts';
import type { AppEvent, EventsPage } from '../api/event-types.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import { useSession } from '../session/session.tsx';
import { eventTypes } from './event-names.ts';

export interface LiveEvents {
  /** Newest first; undefined until the first response. */
  events: AppEvent[] | undefined;
  /** False if changes write no events yet. */
  listening: boolean;
  live: boolean;
  /** Set if there are too many earlier events to show. */
  onlyNew: boolean;
  problem: Problem | undefined;
  reload: () => void;
}

const shownAtMost = 500;
const pageSize = 100;
const pagesAtMost = 10;
/** The browser reopens a broken stream, but not a refused one. */
const reopenMs = 3000;

interface History {
  events: AppEvent[];
  listening: boolean;
  /** The cursor where the stream continues; null starts at the current time. */
  cursor: string | null;
  whole: boolean;
}

/** All stored events, unless there are too many. */
async function readHistory(path: string, signal: AbortSignal): Promise<History> {
  const events: AppEvent[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < pagesAtMost; pages++) {
    const page: EventsPage = await call('GET', withQuery(path, { limit: pageSize, cursor }), { signal });
    events.push(...page.data.map(({ deliveries: _, ...event }) => event));
    cursor = page.next_cursor;
    if (page.data.length < pageSize) return { events, listening: page.listening, cursor, whole: true };
  }
  return { events: [], listening: true, cursor: null, whole: false };
}

function merge(before: AppEvent[], arrived: AppEvent[]): AppEvent[] {
  const known = new Set(before.map(({ id }) => id));
  const fresh = arrived.filter(({ id }) => !known.has(id)).reverse();
  return [...fresh, ...before].slice(0, shownAtMost);
}

/** The events of an application as they happen. */
export function useEvents(applicationId: string): LiveEvents {
  const { expire } = useSession();
  const [state, setState] = useState<Omit<LiveEvents, 'live' | 'reload'>>({
    events: undefined,
    listening: true,
    onlyNew: false,
    problem: undefined,
  });
  const [live, setLive] = useState(false);
  const [round, setRound] = useState(0);
  const path = applicationPath(applicationId, '/events');

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round starts again.
  useEffect(() => {
    const control = new AbortController();
    let stream: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const add = (arrived: AppEvent[]) =>
      setState(({ events = [], ...rest }) => ({ ...rest, events: merge(events, arrived) }));

    async function start(): Promise<void> {
      try {
        const { events, listening, cursor, whole } = await readHistory(path, control.signal);
        setState({ events: [], listening, onlyNew: !whole, problem: undefined });
        add(events);
        if (listening) open(cursor);
      } catch (error) {
        if (control.signal.aborted) return;
        const problem = toProblem(error);
        if (problem.status === 401) return expire();
        setState((before) => ({ ...before, problem }));
      }
    }

    function open(cursor: string | null): void {
      if (control.signal.aborted) return;
      stream = new EventSource(withQuery(`${path}/stream`, { cursor }));
      stream.addEventListener('open', () => setLive(true));
      for (const type of eventTypes) {
        stream.addEventListener(type, (event: MessageEvent<string>) => add([JSON.parse(event.data) as AppEvent]));
      }
      stream.addEventListener('error', () => {
        setLive(false);
        if (stream?.readyState === EventSource.CLOSED) timer = setTimeout(() => void start(), reopenMs);
      });
    }

    void start();
    return () => {
      control.abort();
      stream?.close();
      clearTimeout(timer);
    };
  }, [path, expire, round]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, live, reload };
}
