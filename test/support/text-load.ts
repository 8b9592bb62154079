import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import type { Service } from './service.ts';

/** A text to send, with a number of its own. */
export interface LoadedText {
  to: string;
  message: string;
}

export interface TextLoad {
  /** The id that each text was answered with, by its number. */
  answered: Map<string, string>;
  /** Resolves when every text is answered 201. */
  finished: Promise<void>;
  /** From now on requests go there. */
  turnTo(service: Service): void;
}

const atOnce = 16;
const againAfterMs = 100;

/**
 * Sends each text under an idempotency key, again and again until it is answered 201, whatever happens to the service
 * meanwhile. So every text is accepted exactly once.
 */
export function startTextLoad(service: Service, texts: LoadedText[]): TextLoad {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const apiKey = apiKeyOf(service);
  const answered = new Map<string, string>();
  let target = service.url;
  let next = 0;

  async function send(text: LoadedText): Promise<void> {
    for (;;) {
      const headers = { apikey: apiKey, 'Idempotency-Key': text.to };
      // A connection that breaks says nothing of what became of its request.
      const reply = await post(agent, `${target}/sms/v1/messages`, headers, { from: 'ACME', ...text }).catch(
        () => null,
      );
      if (reply?.status === 201) {
        answered.set(text.to, (JSON.parse(reply.body) as { id: string }).id);
        return;
      }
      // 409: the request before is still under way. 503: the database is away.
      if (reply !== null && reply.status !== 409 && reply.status !== 503)
        throw new Error(`a text was answered ${reply.status}: ${reply.body}`);
      await new Promise((done) => setTimeout(done, againAfterMs));
    }
  }

  async function keepSending(): Promise<void> {
    for (let text = texts[next++]; text !== undefined; text = texts[next++]) await send(text);
  }

  const finished = Promise.all(Array.from({ length: atOnce }, keepSending)).then(() => agent.destroy());
  // Its owner reads it in the end.
  finished.catch(() => {});
  return {
    answered,
    finished,
    turnTo({ url }) {
      target = url;
    },
  };
}

/** The key of the demo application with the largest plan. */
function apiKeyOf({ dataDir }: Service): string {
  const credentials = JSON.parse(readFileSync(join(dataDir, 'sandbox-credentials.json'), 'utf8')) as {
    applications: { plan: string; api_key: string }[];
  };
  return credentials.applications.find(({ plan }) => plan === 'enterprise')?.api_key ?? '';
}

function post(
  agent: Agent,
  url: string,
  headers: Record<string, string>,
  body: object,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const json = { ...headers, 'Content-Type': 'application/json' };
    const sent = request(url, { method: 'POST', agent, headers: json, timeout: 15_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
      response.on('aborted', () => reject(new Error('cut off')));
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}
