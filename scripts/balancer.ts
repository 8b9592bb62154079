import { Agent, type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A small HTTP balancer: round robin over the nodes whose `/readyz` answers 200. */
export interface Balancer {
  url: string;
  /** How many nodes get requests now. */
  ready(): number;
  close(): Promise<void>;
}

export interface BalancerOptions {
  /** The nodes' URLs; may change over time. */
  nodes: () => string[];
  port?: number;
  checkEveryMs?: number;
  /** A node that answers later counts as not ready. */
  checkWithinMs?: number;
}

export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  const { nodes, port = 0, checkEveryMs = 500, checkWithinMs = 1000 } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  let ready: string[] = [];
  let turn = 0;
  let stopped = false;

  async function check(): Promise<void> {
    const asked = nodes();
    const answers = await Promise.all(asked.map((node) => isReady(node, checkWithinMs)));
    ready = asked.filter((_, index) => answers[index]);
    if (!stopped) timer = setTimeout(() => void check(), checkEveryMs);
  }

  /** Forwards to the next ready node that has not been tried. */
  function forward(incoming: IncomingMessage, outgoing: ServerResponse, tried: string[] = []): void {
    const candidates = ready.filter((node) => !tried.includes(node));
    const node = candidates[turn++ % Math.max(1, candidates.length)];
    if (node === undefined) {
      answer(outgoing, 503);
      return;
    }
    const upstream = request(node + incoming.url, { method: incoming.method, headers: headersOf(incoming), agent });
    upstream.on('response', (response) => {
      const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...headers } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, headers);
      response.pipe(outgoing);
      response.on('error', () => outgoing.destroy());
    });
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      // A refused connection carried no request: try another node. After other errors the node may have acted on it.
      if (error.code === 'ECONNREFUSED') forward(incoming, outgoing, [...tried, node]);
      else if (outgoing.headersSent) outgoing.destroy();
      else answer(outgoing, 502);
    });
    outgoing.on('close', () => upstream.destroy());
    onceConnected(upstream, () => incoming.pipe(upstream));
  }

  const server = createServer((incoming, outgoing) => forward(incoming, outgoing));
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  await check();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => ready.length,
    async close() {
      stopped = true;
      clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

async function isReady(node: string, withinMs: number): Promise<boolean> {
  const response = await fetch(`${node}/readyz`, { signal: AbortSignal.timeout(withinMs) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 200;
}

function headersOf({ headers, socket }: IncomingMessage): NodeJS.Dict<string | string[]> {
  const { connection: _, ...kept } = headers;
  return { ...kept, 'x-forwarded-for': socket.remoteAddress };
}

/** Leaves the body unread until the connection is up, so that it can still go to another node. */
function onceConnected(upstream: ClientRequest, act: () => void): void {
  upstream.once('socket', (socket) => (socket.connecting ? socket.once('connect', act) : act()));
}

function answer(outgoing: ServerResponse, status: number): void {
  outgoing.writeHead(status, { 'Retry-After': '1' }).end();
}
