// One call of a client, said so that each language can make it.
import { ConnectionError, Heliograph, HeliographError, SignatureError } from '@heliograph/client';
import '../support/client.ts';

export interface ClientOptions {
  base_url: string;
  api_key?: string;
  client_id?: string;
  client_secret?: string;
  /** Seconds. */
  timeout?: number;
}

export interface ClientCall {
  call: string;
  args: unknown[];
  options?: Record<string, unknown>;
  /** How many items of a list, or of the feed. */
  take?: number;
}

export interface ErrorOutcome {
  class: string;
  message: string;
  [field: string]: unknown;
}

export type Outcome = { result?: unknown; error?: ErrorOutcome };

export interface Driver {
  language: string;
  run(client: ClientOptions, call: ClientCall): Promise<Outcome>;
  /** Every call that its client has. */
  calls(): Promise<string[]>;
  end(): Promise<void>;
}

const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function createTypeScriptDriver(): Driver {
  const clients = new Map<string, Heliograph>();

  function clientFor(options: ClientOptions): Heliograph {
    const key = JSON.stringify(options);
    const known = clients.get(key) ?? createClient(options);
    clients.set(key, known);
    return known;
  }

  return {
    language: 'TypeScript',
    async run(options, call) {
      try {
        return { result: (await callOf(clientFor(options), call)) ?? null };
      } catch (error) {
        return { error: outcomeOf(error) };
      }
    },
    calls: async () => callsOf(createClient({ base_url: 'http://127.0.0.1:9' })),
    end: async () => {},
  };
}

function createClient(options: ClientOptions): Heliograph {
  const { base_url: baseUrl, api_key: apiKey, client_id: clientId, client_secret: clientSecret, timeout } = options;
  const timeoutMs = timeout === undefined ? undefined : timeout * 1000;
  return new Heliograph({ baseUrl, apiKey, clientId, clientSecret, timeoutMs });
}

async function callOf(client: Heliograph, { call, args, options, take = 1000 }: ClientCall): Promise<unknown> {
  const path = call.split('.').map(camel);
  const name = path.pop() ?? '';
  let target: unknown = client;
  for (const part of path) target = (target as Record<string, unknown>)[part];
  const given = options === undefined ? args : [...args, optionsOf(options)];
  const result = await (target as Record<string, (...args: unknown[]) => unknown>)[name]?.(...given);
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result;
  const items: unknown[] = [];
  for await (const item of result as AsyncIterable<unknown>) if (items.push(item) >= take) break;
  return items;
}

function optionsOf(options: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(options).map(([name, value]) =>
    name === 'now' ? ['nowMs', Number(value) * 1000] : [camel(name), value],
  );
  return Object.fromEntries(entries);
}

function outcomeOf(error: unknown): ErrorOutcome {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof HeliographError) {
    const { status, code, details, correlationId, retryAfterSeconds } = error;
    const facts = { status, code, details, correlation_id: correlationId, retry_after_seconds: retryAfterSeconds };
    return { class: 'HeliographError', message, ...facts };
  }
  if (error instanceof ConnectionError || error instanceof SignatureError) return { class: error.name, message };
  return { class: error instanceof TypeError ? 'program' : `unexpected ${error}`, message };
}

function callsOf(part: object, prefix = ''): string[] {
  const methods = new Set<string>();
  for (let each = Object.getPrototypeOf(part); each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const name of Object.getOwnPropertyNames(each))
      if (name !== 'constructor' && name !== 'post') methods.add(prefix + snake(name));
  const parts = Object.entries(part).filter(([, value]) => typeof value === 'object' && value !== null);
  return [...methods, ...parts.flatMap(([name, value]) => callsOf(value as object, `${prefix}${snake(name)}.`))];
}
