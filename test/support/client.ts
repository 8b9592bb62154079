// The client as a user has it: built, by its package's name.
import { Heliograph, type HeliographOptions } from '@heliograph/client';
import type { TestApplication } from './applications.ts';

export interface SentRequest {
  method: string;
  path: string;
  headers: Headers;
  /** Undefined while there is no answer. */
  status?: number;
}

export interface ObservedClient {
  heliograph: Heliograph;
  /** What it sent, in order. */
  sent: SentRequest[];
  /** How many requests for a token. */
  tokenRequests(): number;
}

/** A client with the credentials of an application, which notes what it sends. */
export function createClient(
  { url }: { url: string },
  { apiKey, client }: Pick<TestApplication, 'apiKey' | 'client'>,
  options: Partial<HeliographOptions> = {},
): ObservedClient {
  const sent: SentRequest[] = [];
  const { fetch: send = fetch, ...others } = options;
  const heliograph = new Heliograph({
    baseUrl: url,
    ...(apiKey !== '' && { apiKey }),
    ...(client.client_id !== '' && { clientId: client.client_id, clientSecret: client.client_secret }),
    fetch: async (input, init) => {
      const { pathname, search } = new URL(String(input));
      const request: SentRequest = {
        method: init?.method ?? 'GET',
        path: pathname + search,
        headers: new Headers(init?.headers),
      };
      sent.push(request);
      const response = await send(input, init);
      request.status = response.status;
      return response;
    },
    ...others,
  });
  return { heliograph, sent, tokenRequests: () => sent.filter(({ path }) => path.endsWith('/token')).length };
}

/** What a promise rejects with. */
export async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}
