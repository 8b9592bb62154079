import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedAlert {
  /** The webhook-id. */
  id: string;
  type: string;
  data: Record<string, unknown>;
  /** Signed with the secret that the receiver knows, as Standard Webhooks 1.0 says. */
  verified: boolean;
}

/** Where alerts are posted to: it checks them as a receiver would, with the specification as its only source. */
export interface AlertReceiver {
  url: string;
  received: ReceivedAlert[];
  /** The answer to the next calls: a status, or none at all. */
  answerWith(status: number | 'nothing'): void;
  knowSecret(secret: string): void;
  close(): Promise<void>;
}

export async function createAlertReceiver(): Promise<AlertReceiver> {
  const received: ReceivedAlert[] = [];
  let status: number | 'nothing' = 200;
  let secret = Buffer.alloc(0);

  function isSigned(headers: Record<string, unknown>, body: string): boolean {
    const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const right = createHmac('sha256', secret).update(content).digest();
    return String(headers['webhook-signature'])
      .split(' ')
      .some((each) => {
        const [version, signature = ''] = each.split(',');
        const given = Buffer.from(signature, 'base64');
        return version === 'v1' && given.length === right.length && timingSafeEqual(given, right);
      });
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { type, data } = JSON.parse(body) as Pick<ReceivedAlert, 'type' | 'data'>;
      const id = String(request.headers['webhook-id']);
      received.push({ id, type, data, verified: isSigned(request.headers, body) });
      if (status === 'nothing') request.socket.destroy();
      else response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('{}');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/alerts?token=a-secret-of-the-operator`,
    received,
    answerWith(given) {
      status = given;
    },
    knowSecret(given) {
      secret = Buffer.from(given.replace(/^whsec_/, ''), 'base64');
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
