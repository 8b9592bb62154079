import { toError } from '../../../sdk/src/errors.ts';
import { ConnectionError } from '../../../sdk/src/index.ts';

/** One server-sent event. */
export interface ServerEvent {
  id: string | undefined;
  type: string;
  data: string;
}

export interface StreamRequest {
  url: URL;
  headers: Record<string, string>;
  signal: AbortSignal;
  /** The stream is open. */
  onOpen: () => void;
}

const longestEvent = 256 * 1024;

/** Opens a stream of server-sent events and yields each event until the service closes the stream. */
export async function* openEventStream({ url, headers, signal, onOpen }: StreamRequest): AsyncGenerator<ServerEvent> {
  let response: Response;
  try {
    response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal, redirect: 'error' });
  } catch (error) {
    throw lost(error, signal);
  }
  if (!response.ok || response.body === null) {
    const { status, headers: told } = response;
    throw toError({ status, headers: told, body: await response.json().catch(() => undefined) });
  }
  onOpen();
  const parser = createParser();
  const reader = response.body.getReader();
  // Node can garbage-collect the signal of a fetch, and then could not abort a long stream.
  const stop = () => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      yield* parser(value);
    }
  } catch (error) {
    throw lost(error, signal);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function lost(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new ConnectionError(
    `The service could not be reached: ${cause instanceof Error ? cause.message : String(cause)}`,
  );
}

/** Parses lines into events (HTML section 9.2, as far as the service uses it). */
function createParser(): (bytes: Uint8Array) => ServerEvent[] {
  const decoder = new TextDecoder();
  let rest = '';
  let fields: { id?: string; event?: string; data: string[] } = { data: [] };
  return (bytes) => {
    rest += decoder.decode(bytes, { stream: true });
    if (rest.length > longestEvent) throw new ConnectionError('The service sent an event that is too long.');
    const lines = rest.split(/\r?\n/);
    rest = lines.pop() ?? '';
    const events: ServerEvent[] = [];
    for (const line of lines) {
      if (line === '') {
        if (fields.data.length > 0)
          events.push({ id: fields.id, type: fields.event ?? 'message', data: fields.data.join('\n') });
        fields = { data: [] };
        continue;
      }
      const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
      if (name === 'data') fields.data.push(value);
      else if (name === 'id') fields.id = value;
      else if (name === 'event') fields.event = value;
    }
    return events;
  };
}
