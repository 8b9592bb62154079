// A caller in a process of its own: it sends texts without a pause, on connections of every kind, whatever becomes of the
// service, and prints in the end which of them were answered.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface ClientOptions {
  port: number;
  apiKey: string;
  /** Callers of each kind. */
  callers: number;
}

/** For each reference the status of its answer, or why there was none. */
export type Outcomes = Record<string, number | string>;

const { port, apiKey, callers } = JSON.parse(process.argv[2] ?? '') as ClientOptions;
const host = '127.0.0.1';
const path = '/sms/v1/messages';
const outcomes: Outcomes = {};
let stopped = false;
let sent = 0;

const bodyOf = (reference: string) =>
  JSON.stringify({ to: '+447700900123', from: 'ACME', message: 'Hello', reference });

function post(agent: Agent, reference: string, inChunks: boolean): Promise<number | string> {
  return new Promise((resolve) => {
    const body = bodyOf(reference);
    const headers: Record<string, string> = { apikey: apiKey, 'Content-Type': 'application/json' };
    if (!inChunks) headers['Content-Length'] = String(body.length);
    const sending = request({ host, port, path, method: 'POST', agent, headers }, (response) => {
      response.on('error', () => resolve('half an answer'));
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sending.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    if (inChunks) sending.write(body.slice(0, 10));
    sending.end(inChunks ? body.slice(10) : body);
  });
}

/** As the oldest of proxies do: the answer ends with its connection. */
function postAsHttp10(reference: string): Promise<number | string> {
  return new Promise((resolve) => {
    const body = bodyOf(reference);
    const socket = connect({ port, host });
    let received = '';
    let problem = 'closed without an answer';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      problem = error.code ?? error.message;
    });
    socket.on('close', () => {
      const status = /^HTTP\/1\.1 (\d{3}) .*\r\n\r\n\{.*\}$/s.exec(received)?.[1];
      resolve(status === undefined ? problem : Number(status));
    });
    socket.write(
      `POST ${path} HTTP/1.0\r\napikey: ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
}

const kept = new Agent({ keepAlive: true });
const alsoKept = new Agent({ keepAlive: true });
const fresh = new Agent({ keepAlive: false });
const kinds: Record<string, (reference: string) => Promise<number | string>> = {
  // The plain lane.
  kept: (reference) => post(kept, reference, false),
  // Node's lane, on connections that stay open.
  chunked: (reference) => post(alsoKept, reference, true),
  // Node's lane, `Connection: close`.
  fresh: (reference) => post(fresh, reference, false),
  http10: postAsHttp10,
};

async function goOn(kind: string): Promise<void> {
  const act = kinds[kind];
  while (!stopped && act !== undefined) {
    const reference = `${kind}-${sent++}`;
    const outcome = await act(reference);
    outcomes[reference] = outcome;
    if (typeof outcome === 'string') await pause(100);
  }
}

const going = Object.keys(kinds).flatMap((kind) => Array.from({ length: callers }, () => goOn(kind)));
process.on('message', async (question: 'count' | 'stop') => {
  if (question === 'count') {
    process.send?.(Object.values(outcomes).filter((outcome) => outcome === 201).length);
    return;
  }
  stopped = true;
  await Promise.all(going);
  process.send?.(outcomes, () => process.exit(0));
});
process.on('disconnect', () => process.exit(0));
