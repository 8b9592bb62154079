import { useEffect, useRef, useState } from 'react';
import { call } from '../api/call.ts';
import type { InboxText } from '../api/record-types.ts';

/** The state of a call. A call that no open page has made ring is answered automatically. */
export type CallState = 'ringing' | 'answered' | 'declined' | 'missed';

export interface Calls {
  stateOf: (text: InboxText) => CallState;
  answer: (text: InboxText) => void;
  decline: (text: InboxText) => void;
}

/** The action that another tab of this browser has taken for the same call. */
interface Taken {
  id: string;
  state: CallState;
}

/** As long as the service lets a call ring. */
const longestRingMs = 20_000;

/** Lets calls to the shown number ring until the person takes them. Other calls are answered automatically. */
export function useCalls(applicationId: string, number: string, texts: readonly InboxText[], active: boolean): Calls {
  const [states, setStates] = useState<ReadonlyMap<string, CallState>>(new Map());
  const seen = useRef(new Set<string>());
  const timers = useRef(new Set<ReturnType<typeof setTimeout>>());
  const otherTabs = useRef<BroadcastChannel>(undefined);

  const set = (id: string, state: CallState, only?: CallState) =>
    setStates((before) => (only !== undefined && before.get(id) !== only ? before : new Map(before).set(id, state)));

  async function act(id: string, action: 'ring' | 'answer' | 'decline'): Promise<boolean> {
    const body = { application_id: applicationId, action };
    return call('POST', `/sandbox/v1/inbox/calls/${encodeURIComponent(id)}`, { body }).then(
      () => true,
      () => false,
    );
  }

  async function ring(id: string): Promise<void> {
    // The call is already over: it was answered automatically.
    if (!(await act(id, 'ring'))) return set(id, 'answered');
    set(id, 'ringing');
    const timer = setTimeout(() => set(id, 'missed', 'ringing'), longestRingMs);
    timers.current.add(timer);
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: each call is taken once, when it is first seen.
  useEffect(() => {
    if (!active || document.visibilityState !== 'visible') return;
    for (const { message_id: id, to, ringing } of texts) {
      if (ringing !== true || to !== number || seen.current.has(id)) continue;
      seen.current.add(id);
      void ring(id);
    }
  }, [texts, number, active]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `set` reads nothing that changes.
  useEffect(() => {
    const channel = new BroadcastChannel('heliograph-calls');
    channel.onmessage = ({ data: { id, state } }: MessageEvent<Taken>) => set(id, state, 'ringing');
    otherTabs.current = channel;
    return () => channel.close();
  }, []);

  useEffect(() => {
    const all = timers.current;
    return () => all.forEach(clearTimeout);
  }, []);

  async function end(id: string, action: 'answer' | 'decline', state: CallState): Promise<void> {
    if (!(await act(id, action))) return set(id, 'missed', 'ringing');
    set(id, state);
    otherTabs.current?.postMessage({ id, state } satisfies Taken);
  }

  return {
    stateOf: ({ message_id }) => states.get(message_id) ?? 'answered',
    answer: ({ message_id }) => void end(message_id, 'answer', 'answered'),
    decline: ({ message_id }) => void end(message_id, 'decline', 'declined'),
  };
}
