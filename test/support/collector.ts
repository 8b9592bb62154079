import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeRequest, type ReceivedSpan } from './otlp-decoder.ts';

export interface CollectedRequest {
  headers: IncomingHttpHeaders;
  path: string;
  body: Buffer;
  spans: ReceivedSpan[];
}

/** A collector on loopback. It decodes what it receives by OpenTelemetry's own package. */
export interface Collector {
  url: string;
  requests: CollectedRequest[];
  /** The spans of requests that it has taken. */
  spans(): ReceivedSpan[];
  /** The spans of one trace; undefined while a parent is missing: each thread and process exports its own. */
  trace(traceId: string): ReceivedSpan[] | undefined;
  /** Answers the next requests; by default with 200. */
  answer(by: (response: ServerResponse) => void): void;
  close(): Promise<void>;
}

export async function startCollector(port = 0): Promise<Collector> {
  const requests: CollectedRequest[] = [];
  const taken: ReceivedSpan[] = [];
  let answer: ((response: ServerResponse) => void) | undefined;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      const spans = decodeRequest(body);
      requests.push({ headers: request.headers, path: request.url ?? '', body, spans });
      if (answer !== undefined) {
        answer(response);
        return;
      }
      taken.push(...spans);
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () => [...taken],
    trace(traceId) {
      const own = taken.filter((span) => span.traceId === traceId);
      const ids = new Set(own.map(({ spanId }) => spanId));
      if (own.some(({ parentId, isRemote }) => parentId !== '' && !isRemote && !ids.has(parentId))) return undefined;
      if (ids.size !== own.length) throw new Error('two spans have the same id');
      return own;
    },
    answer(by) {
      answer = by;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
