import assert from 'node:assert/strict';
import { createTestApp, type TestApp } from './app.ts';
import { createRunningClock } from './clock.ts';
import type { TestDeveloper } from './developer.ts';
import { eventually } from './eventually.ts';
import { createOperator } from './operator.ts';
import { freePort } from './process.ts';
import { createSender, type Sender, type TextRecord } from './texts.ts';

const path = '/portal/v1/operator/carriers';

export interface HttpCarrier {
  name: string;
  kind: string;
  state: string;
  binds: { state: string; error: string | null; mode: string }[];
  callbacks: { receipts: string; inbound: string } | null;
  settings: Record<string, unknown>;
}

/** An app that knows its public address, so that providers can report to it; an operator; an application that sends. */
export interface HttpCarrierWorld {
  app: TestApp;
  operator: TestDeveloper;
  sender: Sender;
  /** Makes a carrier and waits until it is up. */
  connect(settings: Record<string, unknown>, name?: string): Promise<HttpCarrier>;
  read(name?: string): Promise<HttpCarrier>;
  change(settings: Record<string, unknown>, name?: string): Promise<void>;
  disconnect(name?: string): Promise<void>;
  send(changes?: Record<string, unknown>): Promise<TextRecord>;
  untilStatus(id: string, status: string): Promise<TextRecord>;
  close(): Promise<void>;
}

export async function createHttpCarrierWorld(env: Record<string, string> = {}): Promise<HttpCarrierWorld> {
  const port = await freePort();
  const own = { PORT: String(port), HELIOGRAPH_PUBLIC_URL: `http://127.0.0.1:${port}` };
  const app = await createTestApp({ clock: createRunningClock(), env: { ...own, ...env } });
  const operator = await createOperator(app);
  const sender = await createSender(app);

  async function read(name = 'provider'): Promise<HttpCarrier> {
    const { status, body } = await operator.send<HttpCarrier>('GET', `${path}/${name}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  return {
    app,
    operator,
    sender,
    read,
    async connect(settings, name = 'provider') {
      const { status, body } = await operator.send<HttpCarrier>('POST', path, { name, kind: 'http', settings });
      assert.equal(status, 201, JSON.stringify(body));
      await eventually(`${name} to be up`, async () => (await read(name)).state === 'up');
      return body;
    },
    async change(settings, name = 'provider') {
      const { status, body } = await operator.send('PATCH', `${path}/${name}`, { settings });
      assert.equal(status, 200, JSON.stringify(body));
    },
    async disconnect(name = 'provider') {
      await operator.send('DELETE', `${path}/${name}?force=true`);
      await eventually('the carrier to stop', () => app.delivery.workers().length <= 1);
    },
    async send(changes = {}) {
      const { status, body } = await sender.sms(changes);
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    },
    async untilStatus(id, status) {
      let last = '';
      return eventually(
        `${id} to be ${status}`,
        async () => {
          const found = await sender.readSms(id);
          last = found.status;
          return found.status === status && found;
        },
        { withinMs: 20_000 },
      ).catch((error: Error) => assert.fail(`${error.message}; it is ${last}`));
    },
    close: () => app.close(),
  };
}
