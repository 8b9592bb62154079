import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import twilio from 'twilio';
import { eventually } from '../support/eventually.ts';

export interface StatusRequest {
  method: string;
  /** As the receiver knows itself. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  form: Record<string, string>;
}

export type RespondToStatus = (request: StatusRequest, response: ServerResponse) => void;

export const taken: RespondToStatus = (_, response) => void response.writeHead(204).end();
export const answerWith =
  (status: number, headers: Record<string, string> = {}): RespondToStatus =>
  (_, response) =>
    void response.writeHead(status, headers).end('no');
/** It never answers. */
export const stall: RespondToStatus = () => {};

/** A developer's endpoint for status callbacks, on loopback. It keeps every request, and answers as the test wants. */
export async function createStatusReceiver(respond: RespondToStatus = taken) {
  const requests: StatusRequest[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { method = '', headers, url = '' } = request;
      const body = Buffer.concat(pieces).toString('utf8');
      const form = Object.fromEntries(new URLSearchParams(body));
      const received = { method, url: `http://${headers.host}${url}`, headers, body, form };
      requests.push(received);
      receiver.respond(received, response);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const receiver = {
    url: `http://127.0.0.1:${port}/status`,
    requests,
    respond,
    /** The requests about a message, once there are that many. */
    async about(sid: string, count: number): Promise<StatusRequest[]> {
      const found = () => requests.filter(({ form }) => form.MessageSid === sid);
      await eventually(`${count} callbacks about ${sid}`, () => found().length >= count);
      return found();
    },
    close: () =>
      new Promise<void>((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
  return receiver;
}

export type StatusReceiver = Awaited<ReturnType<typeof createStatusReceiver>>;

/** As a receiver checks a request, by the official package. */
export function isSigned(token: string, { headers, url, form }: StatusRequest): boolean {
  return twilio.validateRequest(token, String(headers['x-twilio-signature']), url, form);
}
