import assert from 'node:assert/strict';
import { spokenWords } from '../../../src/verify/texts/spoken-words.ts';
import type { ProviderCall } from '../call.ts';
import type { DoubleAnswer, GotRequest } from '../provider.ts';

/** A code as the provider has it. */
export interface TakenCode {
  /** The provider's id. */
  id: string;
  /** Our id. */
  ours: string;
  to: string;
  code: string;
  /** Where its receipts go; undefined if the request does not say. */
  callback: string | undefined;
}

/** A provider of calls or of WhatsApp messages, as its documentation describes it. */
export interface CodeProvider {
  preset: string;
  channel: 'voice' | 'whatsapp';
  /** The credentials that it accepts. */
  settings: Record<string, unknown>;
  /** Credentials that it refuses. */
  wrong: Record<string, unknown>;
  /** The secrets among them, in clear. */
  secrets: string[];
  /** What its description does not allow in a request. */
  problemsOf(request: GotRequest): string[];
  /** Answers a request without problems. */
  answer(request: GotRequest): DoubleAnswer;
  /** Reads a request for a code in a language of ours. */
  taken(request: GotRequest, answer: DoubleAnswer, language: string): TakenCode;
  refusals: { what: string; answer: DoubleAnswer; error: string }[];
  throttled: DoubleAnswer;
  receipt(code: TakenCode, to: { url: string; state: string; error?: string; nowMs: number }): ProviderCall;
  /** Its words for what is under way: the first receipts of a code that arrives. */
  pending: string[];
  /** Its words for a code that arrived. */
  arrived: string[];
  /** Its words for what did not arrive, and ours. */
  failed: { state: string; error?: string; status: string; code: string }[];
  /** How a proof is spoilt; empty for a provider that signs nothing. */
  forgeries: Record<string, (call: ProviderCall, again: (nowMs: number) => ProviderCall) => ProviderCall>;
}

/** Names that a description does not have, and those that are missing. */
export function nameProblems(
  given: object,
  { needed, allowed = [] }: { needed: string[]; allowed?: string[] },
): string[] {
  const names = Object.keys(given);
  const known = [...needed, ...allowed];
  return [
    ...names.filter((name) => !known.includes(name)).map((name) => `${name} is not described`),
    ...needed.filter((name) => !names.includes(name)).map((name) => `${name} is missing`),
  ];
}

/** `problem` unless it is right. */
export const unless = (isRight: boolean, problem: string): string[] => (isRight ? [] : [problem]);

export const digitsForm = /^[1-9]\d{6,14}$/;
export const plusForm = /^\+[1-9]\d{6,14}$/;
/** An address for receipts that the provider can call, and a proxy would not cut. */
export const callbackForm = /^https?:\/\/[^\s]{1,1000}$/;

/** The code that a voice says in a language of ours, digit by digit, twice. */
export function heard(said: string, language: string): string {
  const words = spokenWords[language] ?? assert.fail(`${language} has words`);
  const [first = '', second, ...more] = said.split(` ${words.again} `);
  assert.ok(second !== undefined && more.length === 0, `it is said twice: ${said}`);
  const code = digitsAtEnd(first, words.digits);
  assert.equal(digitsAtEnd(second, words.digits), code, said);
  assert.ok(/^[0-9]{4,10}$/.test(code), said);
  return code;
}

/** The digits before the full stop, each alone between commas. */
function digitsAtEnd(said: string, digits: readonly string[]): string {
  assert.ok(said.endsWith('.'), said);
  const pieces = said.slice(0, -1).split(', ');
  const alone = pieces.slice(pieces.findLastIndex((piece) => !digits.includes(piece)) + 1);
  // The first one follows the opening, which may have a name with commas.
  const opening = pieces.at(-alone.length - 1);
  const first = digits.findIndex((word) => opening?.endsWith(` ${word}`));
  return [...(first === -1 ? [] : [first]), ...alone.map((word) => digits.indexOf(word))].join('');
}
