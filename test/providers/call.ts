import type { DoubleAnswer, GotRequest } from './provider.ts';

/** A callback that a provider makes. */
export interface ProviderCall {
  method: 'POST' | 'GET';
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** A text as the provider has it. */
export interface TakenText {
  /** The provider's id. */
  id: string;
  /** Our id. */
  ours: string;
  to: string;
  from: string;
  text: string;
  /** Where its receipts go; undefined if the request does not say. */
  callback: string | undefined;
}

/** A provider as its documentation describes it: what it takes, what it answers, how it reports and signs. */
export interface Provider {
  preset: string;
  /** The credentials that it accepts. */
  settings: Record<string, unknown>;
  /** Credentials that it refuses. */
  wrong: Record<string, unknown>;
  /** The secrets among them, in clear. */
  secrets: string[];
  /** The request for a text from ACME to +447700900123 that says `Hi € {{to}}`, without what differs each time. */
  recorded: { path: string; fields: unknown };
  fieldsOf(request: GotRequest): unknown;
  answer(request: GotRequest): DoubleAnswer;
  taken(request: GotRequest, answer: DoubleAnswer): TakenText;
  /** What it answers instead of taking a text, and what then becomes of the text. */
  refusals: { what: string; answer: DoubleAnswer; status: string; error?: string }[];
  throttled: DoubleAnswer;
  receipt(
    text: TakenText,
    to: { url: string; state: string; error?: string; nowMs: number; part?: string },
  ): ProviderCall;
  /** Its words for the states, and ours. */
  states: { state: string; error?: string; status: string; code?: string }[];
  /** How a proof is spoilt; empty for a provider that signs nothing. */
  forgeries: Record<string, (call: ProviderCall, again: (nowMs: number) => ProviderCall) => ProviderCall>;
  inbound(url: string, nowMs: number): ProviderCall;
  /** How the proof of an inbound text is spoilt, beside leaving it out. */
  inboundForgeries?: Record<string, (call: ProviderCall) => ProviderCall>;
}

export function formCall(url: string, fields: Record<string, string>, headers: Record<string, string>): ProviderCall {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  return { method: 'POST', url, headers: { ...form, ...headers }, body: new URLSearchParams(fields).toString() };
}

export function jsonCall(url: string, value: unknown, headers: Record<string, string> = {}): ProviderCall {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  };
}

/** The same parameters, written in another way: nothing has changed for a reader, everything for a hash. */
export const respelled = (call: ProviderCall): ProviderCall => ({
  ...call,
  body: call.body?.startsWith('{')
    ? JSON.stringify(JSON.parse(call.body), null, 1)
    : call.body?.replace(/delivered|DELIVERED/, (word) => `${word}%20`),
});

export async function make(call: ProviderCall): Promise<{ status: number; body: string }> {
  const { method, url, headers, body } = call;
  const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  return { status: answer.status, body: await answer.text() };
}
