// Tests: test/providers/faults.test.ts
import { Agent, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestTls, Agent as TlsAgent } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { type AddressGuard, hostOf } from '../../platform/http-out/address-guard.ts';
import type { ProviderAnswer } from './answer.ts';
import { describeHttpError } from './errors.ts';
import type { RenderedRequest } from './render.ts';

/**
 * `not_sent`: no byte of the request has left. `in_doubt`: bytes have left, without a complete answer. `overdue`: it
 * was not written because `leave` returned false.
 */
export type Exchanged =
  | { kind: 'answer'; answer: ProviderAnswer }
  | { kind: 'overdue'; reason: string }
  | { kind: 'not_sent'; reason: string }
  | { kind: 'in_doubt'; reason: string };

export interface HttpClient {
  /** Asks `leave` right before it writes the request. */
  send(request: RenderedRequest, leave?: () => boolean): Promise<Exchanged>;
  /** Ends every connection; requests under way are in doubt. */
  close(): void;
}

export interface HttpClientOptions {
  guard: AddressGuard;
  /** Connections at once. */
  concurrency: number;
  timeoutMs: number;
  ca?: string | undefined;
}

/** Servers keep idle connections longer (Node 5 s, nginx 75 s), so no request meets a connection that is closing. */
const idleMs = 4000;
const longestAnswer = 64 * 1024;

/** Sends requests over connections that are used again. It follows no redirect. */
export function createHttpClient({ guard, concurrency, timeoutMs, ca }: HttpClientOptions): HttpClient {
  const shared = {
    keepAlive: true,
    maxSockets: concurrency,
    maxFreeSockets: concurrency,
    timeout: idleMs,
    lookup: guard.lookup,
  };
  const plain = new Agent(shared);
  const tls = new TlsAgent({ ...shared, minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) });

  return {
    send({ method, url: target, headers, body }, leave = () => true) {
      const url = new URL(target);
      const host = hostOf(url);
      // Node does not resolve a literal address, so the guard's resolver would not see it.
      if (isIP(host) !== 0 && !guard.isAllowed(host))
        return Promise.resolve({
          kind: 'not_sent',
          reason: `${host} is not allowed: production needs allow_private for private addresses, and the sandbox uses only loopback.`,
        });
      const isTls = url.protocol === 'https:';
      const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
      return new Promise((done) => {
        let hasLeft = false;
        let isOver = false;
        const options = { method, headers: { ...headers, 'Accept-Encoding': 'identity', ...length } };
        const request = isTls
          ? requestTls(url, { ...options, agent: tls })
          : requestPlain(url, { ...options, agent: plain });
        const timer = setTimeout(() => fail(`${url.host} did not answer within ${timeoutMs / 1000} s.`), timeoutMs);

        function end(result: Exchanged): void {
          if (isOver) return;
          isOver = true;
          clearTimeout(timer);
          done(result);
        }
        function fail(reason: string): void {
          end({ kind: hasLeft ? 'in_doubt' : 'not_sent', reason });
          request.destroy();
        }
        function onReady(): void {
          hasLeft = leave();
          if (hasLeft || isOver) return;
          end({ kind: 'overdue', reason: 'The text is overdue.' });
          request.destroy();
        }
        request.on('socket', (socket: Socket) => {
          // Node writes a request when its socket is ready, and a socket that was used before is.
          if (!socket.connecting) onReady();
          else socket.once(isTls ? 'secureConnect' : 'connect', onReady);
        });
        request.on('error', (error) => fail(describeHttpError(error, url.host)));
        request.on('response', (response) => readAnswerOf(response, (answer) => end({ kind: 'answer', answer }), fail));
        request.end(body);
      });
    },
    close() {
      plain.destroy();
      tls.destroy();
    },
  };
}

function readAnswerOf(
  response: IncomingMessage,
  done: (answer: ProviderAnswer) => void,
  fail: (reason: string) => void,
): void {
  const pieces: Buffer[] = [];
  let length = 0;
  response.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length > longestAnswer) fail(`The answer is longer than ${longestAnswer / 1024} KiB.`);
    else pieces.push(piece);
  });
  response.on('error', () => fail('The answer broke off.'));
  response.on('close', () => {
    if (!response.complete) fail('The answer broke off.');
  });
  response.on('end', () => {
    const { statusCode: status = 0, headers } = response;
    if (response.complete) done({ status, headers, body: Buffer.concat(pieces, length) });
  });
}
