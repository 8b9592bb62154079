import { type IncomingHttpHeaders, request } from 'node:http';

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
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path, headers: { ...about, ...headers } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => {
        text += piece;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
      answer.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(payload);
  });
}
