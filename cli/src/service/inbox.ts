import { sleep } from '../../../sdk/src/waiting.ts';
import type { InboxItem } from '../../../src/sandbox/inbox-api.ts';
import { openEventStream } from './event-stream.ts';
import { passes, pauseMs } from './patience.ts';
import { getJson } from './request.ts';

export type { InboxItem };

/** The access to the virtual handsets of one application. */
export interface InboxAccess {
  url: string;
  headers: Record<string, string>;
  /** The application, for calls with a portal session. */
  applicationId: string | undefined;
}

export interface InboxFilter {
  to: string | undefined;
  signal: AbortSignal;
}

/** The latest texts, newest first. */
export async function readInbox(access: InboxAccess, { to, signal, limit }: InboxFilter & { limit: number }) {
  const url = addressOf(access, '/sandbox/v1/inbox', to);
  url.searchParams.set('limit', String(limit));
  return getJson<{ data: InboxItem[] }>(url, access.headers, signal);
}

/** Texts as they arrive. After a lost connection it continues after the last one. */
export async function* followInbox(
  access: InboxAccess,
  { to, signal, onState }: InboxFilter & { onState: (state: 'open' | { lost: unknown; waitMs: number }) => void },
): AsyncGenerator<InboxItem> {
  const url = addressOf(access, '/sandbox/v1/inbox/stream', to);
  let last: string | undefined;
  for (let tries = 1; ; tries++) {
    try {
      const headers = { ...access.headers, ...(last !== undefined && { 'last-event-id': last }) };
      const events = openEventStream({ url, headers, signal, onOpen: () => onState('open') });
      for await (const { id, type, data } of events) {
        tries = 1;
        if (id !== undefined) last = id;
        if (type === 'text') yield JSON.parse(data) as InboxItem;
      }
    } catch (error) {
      if (signal.aborted || !passes(error)) throw error;
      const waitMs = pauseMs(tries, error);
      onState({ lost: error, waitMs });
      await sleep(waitMs, signal);
    }
  }
}

function addressOf({ url, applicationId }: InboxAccess, path: string, to: string | undefined): URL {
  const address = new URL(`${url}${path}`);
  if (to !== undefined) address.searchParams.set('to', to);
  if (applicationId !== undefined) address.searchParams.set('application_id', applicationId);
  return address;
}
