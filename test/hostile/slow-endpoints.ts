import type { ServerResponse } from 'node:http';
import { createWebhookReceiver, type ReceivedCall, type WebhookReceiver } from '../support/webhook-receiver.ts';
import type { WebhookWorld } from '../support/webhook-world.ts';

/** As in the attack: free applications, each with as many webhooks as it may have. */
const webhooksEach = 10;

export interface SlowEndpoints {
  receiver: WebhookReceiver;
  applicationIds: string[];
  /** Calls without an answer, the oldest first. */
  readonly held: HeldCall[];
  /** Adds this many events for each application, for all its webhooks. */
  addEvents(each: number): Promise<void>;
  /** Answers calls with 200, or all of them. */
  answer(calls?: HeldCall[]): void;
  close(): Promise<void>;
}

export interface HeldCall {
  account: string;
  call: ReceivedCall;
  response: ServerResponse;
}

/** Endpoints that take every call and answer it with 200 when the test wants. Accounts get names of their own. */
export async function createSlowEndpoints(world: WebhookWorld, accounts: string[], each = webhooksEach) {
  let held: HeldCall[] = [];
  const receiver = await createWebhookReceiver((call, response) => {
    held.push({ account: call.path.split('/')[1] ?? '', call, response });
  });
  const applicationIds = await Promise.all(
    accounts.map(async (account) => {
      const url = `http://127.0.0.1:${receiver.port}/${account}`;
      const { applicationId } = await world.create(url, account);
      const others = Array.from({ length: each - 1 }, () => world.addWebhook(applicationId, url));
      await Promise.all(others);
      return applicationId;
    }),
  );
  const endpoints: SlowEndpoints = {
    receiver,
    applicationIds,
    get held() {
      return held;
    },
    async addEvents(count) {
      await Promise.all(applicationIds.map((id) => world.addEvents(id, count)));
    },
    answer(calls = held) {
      const chosen = new Set(calls);
      held = held.filter((one) => !chosen.has(one));
      for (const { response } of chosen) response.end('{}');
    },
    async close() {
      endpoints.answer();
      await receiver.close();
    },
  };
  return endpoints;
}
