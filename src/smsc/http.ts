// Tests: test/smpp/smsc-page.test.ts
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readBehaviour, switches } from './faults.ts';
import { pageCss, pageHtml, pageScript } from './page.ts';
import type { Smsc } from './server.ts';

export interface SmscPage {
  readonly port: number;
  close(): Promise<void>;
}

const loopback = '127.0.0.1';
const longestBody = 10_000;
const mostTexts = 10_000;
const security = {
  'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

/** The page, and routes for scripts: GET /texts, /state, /faults; POST /faults, /texts/clear. */
export async function startSmscPage(smsc: Smsc, port: number): Promise<SmscPage> {
  const server = createServer((request, response) => {
    respond(smsc, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, loopback, () => resolve());
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

async function respond(smsc: Smsc, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, type, body } = await answerTo(smsc, request);
  response.writeHead(status, { ...security, 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

async function answerTo(smsc: Smsc, request: IncomingMessage): Promise<Answer> {
  const problem = whyRefused(request);
  if (problem !== undefined) return json(403, { problem });
  const url = new URL(request.url ?? '/', 'http://localhost');
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /':
      return { status: 200, type: 'text/html; charset=utf-8', body: pageHtml };
    case 'GET /page.css':
      return { status: 200, type: 'text/css; charset=utf-8', body: pageCss };
    case 'GET /page.js':
      return { status: 200, type: 'text/javascript; charset=utf-8', body: pageScript };
    case 'GET /texts':
      return json(200, { texts: smsc.texts(readLimit(url.searchParams.get('limit'))) });
    case 'GET /state':
      return json(200, smsc.state());
    case 'GET /faults':
      return json(200, { behaviour: smsc.behaviour, switches });
    case 'POST /texts/clear':
      smsc.clearTexts();
      return json(200, {});
    case 'POST /faults':
      return changeBehaviour(smsc, request);
    default:
      return json(404, { problem: 'There is nothing here. Try GET /, /texts, /state or /faults.' });
  }
}

/** A web page elsewhere can make a browser call us: by another name for loopback, or by a form. */
function whyRefused({ headers, method }: IncomingMessage): string | undefined {
  const host = (headers.host ?? '').replace(/:[0-9]{1,5}$/, '');
  if (host !== 'localhost' && host !== loopback) return 'Send the request to the host localhost or 127.0.0.1.';
  if (method !== 'POST') return undefined;
  const isJson = (headers['content-type'] ?? '').startsWith('application/json');
  return isJson ? undefined : 'Send JSON, with Content-Type: application/json.';
}

async function changeBehaviour(smsc: Smsc, request: IncomingMessage): Promise<Answer> {
  const wanted = readBehaviour(await readJson(request));
  if (typeof wanted === 'string') return json(400, { problem: wanted });
  smsc.change(wanted);
  return json(200, { behaviour: smsc.behaviour, switches });
}

/** Undefined if the body is too long or no JSON. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > longestBody) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

function readLimit(written: string | null): number {
  return written !== null && /^[0-9]{1,5}$/.test(written) ? Math.min(mostTexts, Number(written)) : 100;
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}
