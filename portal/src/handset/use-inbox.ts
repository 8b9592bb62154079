import { useEffect, useState } from 'react';
import { call, withQuery } from '../api/call.ts';
import { toProblem } from '../api/problem.ts';
import type { InboxText } from '../api/record-types.ts';
import type { Page } from '../api/types.ts';
import { useSession } from '../session/session.tsx';

export interface Inbox {
  /** Oldest first; undefined until the first response. */
  texts: InboxText[] | undefined;
  live: boolean;
}

/** The browser reopens a broken stream, but not a refused one. */
const reopenMs = 3000;

/** The texts on the virtual handsets of an application, as they arrive. */
export function useInbox(applicationId: string): Inbox {
  const { expire } = useSession();
  const [texts, setTexts] = useState<InboxText[]>();
  const [live, setLive] = useState(false);

  useEffect(() => {
    const control = new AbortController();
    let stream: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;

    /** Loads the texts that arrived before the stream opened. */
    async function catchUp(): Promise<void> {
      const path = withQuery('/sandbox/v1/inbox', { application_id: applicationId, limit: 100 });
      try {
        const page = await call<Page<InboxText>>('GET', path, { signal: control.signal });
        setTexts((before = []) => merge(before, page.data.reverse()));
      } catch (error) {
        if (!control.signal.aborted && toProblem(error).status === 401) expire();
      }
    }

    function open(): void {
      stream = new EventSource(withQuery('/sandbox/v1/inbox/stream', { application_id: applicationId }));
      stream.addEventListener('open', () => {
        setLive(true);
        void catchUp();
      });
      stream.addEventListener('text', (event: MessageEvent<string>) => {
        const text = JSON.parse(event.data) as InboxText;
        setTexts((before = []) => merge(before, [text]));
      });
      stream.addEventListener('error', () => {
        setLive(false);
        if (stream?.readyState !== EventSource.CLOSED) return;
        void catchUp();
        timer = setTimeout(open, reopenMs);
      });
    }

    open();
    return () => {
      control.abort();
      stream?.close();
      clearTimeout(timer);
    };
  }, [applicationId, expire]);

  return { texts, live };
}

export function keyOf({ message_id, received_at }: InboxText): string {
  return `${message_id} ${received_at}`;
}

function merge(before: InboxText[], arrived: InboxText[]): InboxText[] {
  const all = new Map([...before, ...arrived].map((text) => [keyOf(text), text]));
  return [...all.values()].sort((a, b) => a.received_at.localeCompare(b.received_at));
}
