// A server that answers as a case says: `/<case>/…` is the address of one.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedAnswer {
  kind?: 'cut' | 'silent' | 'slow' | 'endless';
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  text?: string;
}

export interface SeenRequest {
  path: string;
  key: string | undefined;
  atMs: number;
}

/** The last answer is given again and again. */
export interface Script {
  tokens?: ScriptedAnswer[];
  answers: ScriptedAnswer[];
}

export interface Scripted {
  url: string;
  requests: SeenRequest[];
  tokenRequests: SeenRequest[];
  /** When each answer had been given. */
  answeredMs: number[];
}

export async function createScriptedServer() {
  const scripts = new Map<string, { script: Script; seen: Scripted }>();
  const server = createServer((request, response) => {
    const [, name = '', rest = ''] = /^\/(\w+)(\/.*)$/.exec(request.url ?? '') ?? [];
    const known = scripts.get(name);
    if (known === undefined) return void response.writeHead(404).end();
    const isToken = rest.endsWith('/token');
    const list = isToken ? known.seen.tokenRequests : known.seen.requests;
    const key = request.headers['idempotency-key'];
    list.push({ path: rest, key: key === undefined ? undefined : String(key), atMs: performance.now() });
    const answers = (isToken ? known.script.tokens : known.script.answers) ?? [];
    const answer = answers[Math.min(list.length, answers.length) - 1] ?? { status: 500 };
    request.resume().on('end', () => {
      give(answer, response);
      known.seen.answeredMs.push(performance.now());
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    script(script: Script): Scripted {
      const name = `case${scripts.size}`;
      const seen: Scripted = { url: `${address}/${name}`, requests: [], tokenRequests: [], answeredMs: [] };
      scripts.set(name, { script, seen });
      return seen;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function give({ kind, status = 200, headers = {}, json, text }: ScriptedAnswer, response: ServerResponse): void {
  if (kind === 'cut') response.socket?.destroy();
  if (kind === 'endless') pour(response);
  if (kind === 'slow') drip(response);
  if (kind !== undefined) return;
  const type = json === undefined ? {} : { 'content-type': 'application/json' };
  response.writeHead(status, { ...type, ...headers });
  if (headers['content-length'] === undefined)
    return void response.end(json === undefined ? text : JSON.stringify(json));
  response.write(text ?? '', () => response.socket?.destroy());
}

function pour(response: ServerResponse): void {
  response.write('x'.repeat(1024 * 1024), (error) => error ?? pour(response));
}

/** Bytes of a head: each alone comes in time. */
function drip(response: ServerResponse): void {
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\nx-slow: ');
  const timer = setInterval(() => socket?.write('x'), 20);
  socket?.on('close', () => clearInterval(timer));
}
