import { Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface HttpRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A request with the headers it is given and no others: `fetch` adds some of its own, and overwrites others. */
export function sendExactly(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: HttpRequest = {},
): Promise<HttpAnswer> {
  const payload = body === undefined ? '' : JSON.stringify(body);
  const about = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': payload.length };
  return answerTo(request({ port, host: '127.0.0.1', method, path, headers: { ...about, ...headers } }), payload);
}

export interface Exchanged {
  status: number;
  headers: Headers;
  body: string;
}

/** Closes what was idle for a second, before the service would: a request must not meet a connection that is closing. */
const agent = new Agent({ keepAlive: true, timeout: 1000 });

/** What `fetch` does, but for redirects, for a third of the CPU: tests send tens of thousands of requests. */
export async function exchange(
  url: string,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: string | Buffer },
): Promise<Exchanged> {
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const sent = request(new URL(url), { method, agent, headers: { ...length, ...headers } });
  const answer = await answerTo(sent, body);
  return { ...answer, headers: headersOf(answer.headers) };
}

function headersOf(received: IncomingHttpHeaders): Headers {
  const headers = new Headers();
  for (const [name, value = ''] of Object.entries(received)) {
    for (const one of [value].flat()) headers.append(name, one);
  }
  return headers;
}

function answerTo(sent: ClientRequest, payload: string | Buffer | undefined): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject).on('response', (answer) => {
      let text = '';
      const end = () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text });
      // It would not end by itself.
      if (answer.headers['content-type'] === 'text/event-stream') {
        end();
        sent.destroy();
        return;
      }
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => {
        text += piece;
      });
      answer.on('end', end);
      answer.on('error', reject);
    });
    sent.end(payload);
  });
}
