import { get, type IncomingMessage } from 'node:http';
import type { TestApp } from './app.ts';

export interface ServerEvent {
  type: string;
  id: string;
  data: string;
}

export interface EventStream {
  status: number;
  headers: Headers;
  /** Everything so far, as it came. */
  raw(): string;
  /** The events so far, read as the HTML standard says. */
  events(): ServerEvent[];
  /** Ended by the service, or cut off by whomever. */
  ended: Promise<'ended' | 'cut'>;
  close(): void;
}

/** A client for server-sent events, over a socket of its own: a kept one may lead to a process that stands still. */
export async function openEvents(
  app: Pick<TestApp, 'url'>,
  path: string,
  headers: Record<string, string>,
): Promise<EventStream> {
  const gone = new AbortController();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(app.url + path, { headers, agent: false, signal: gone.signal }, resolve).on('error', reject);
  });
  let raw = '';
  async function read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of response) raw += decoder.decode(bytes, { stream: true });
  }
  return {
    status: response.statusCode ?? 0,
    headers: headersOf(response),
    raw: () => raw,
    events: () => readEvents(raw),
    ended: read().then(
      () => 'ended',
      () => 'cut',
    ),
    close: () => gone.abort(),
  };
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}

export function readEvents(raw: string): ServerEvent[] {
  const events: ServerEvent[] = [];
  let next = { type: 'message', id: '', data: [] as string[] };
  for (const line of raw.split('\n').slice(0, -1)) {
    if (line === '') {
      if (next.data.length > 0) events.push({ ...next, data: next.data.join('\n') });
      next = { type: 'message', id: next.id, data: [] };
    }
    const [, field, value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === 'event') next.type = value;
    if (field === 'id') next.id = value;
    if (field === 'data') next.data.push(value);
  }
  return events;
}
