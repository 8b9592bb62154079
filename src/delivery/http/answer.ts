// Tests: src/delivery/http/presets/presets.test.ts, test/providers/described.test.ts
import type { IncomingHttpHeaders } from 'node:http';
import type { AcceptedDetails, LongText, SubmitResult } from '../carrier/carrier.ts';
import { type CarrierId, partKey, readCarrierId } from '../carrier/id.ts';
import { joinCarrierWords } from '../carrier/words.ts';
import type { Description } from './description.ts';
import { findAll, findText, parseJson } from './paths.ts';

export interface ProviderAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** The meaning of an answer for its text, and for the carrier. */
export interface Verdict {
  result: SubmitResult;
  /** The account is refused: the carrier pauses, and an operator must act. */
  isAccount: boolean;
}

type ErrorRule = NonNullable<Description['errors']>[number];

/** A provider that asks for a longer pause gets this one. */
const longestPauseMs = 300_000;
/** Ids are kept in an index, and a text has at most ten parts of ours; a provider may cut it in smaller ones. */
const mostIds = 20;

/** The text that was sent: its id, for providers that give none, and its number of parts. */
export interface SentText {
  messageId: string;
  segments: number;
  /** Values that no page may show, even if the provider repeats them. */
  secrets?: readonly string[];
}

export function readAnswer(description: Description, answer: ProviderAnswer, text: SentText): Verdict {
  const document = readDocument(description, answer.body);
  if (description.accepted.some((rule) => fits(rule, answer.status, document)))
    return { result: accepted(description, document, text), isAccount: false };
  const rule = description.errors?.find((each) => fits(each, answer.status, document));
  const { result, isAccount } = rule === undefined ? byStatus(answer) : byRule(rule, answer, document);
  return { result: { ...result, reported: wordsOf(description, answer, document, { rule, ...text }) }, isAccount };
}

const longestCode = 32;

/** `HTTP 403, 30007`: the status, and the provider's own code, at the path that the description names. */
function wordsOf(
  { errors = [] }: Description,
  { status }: ProviderAnswer,
  document: unknown,
  { rule, secrets = [] }: { rule: ErrorRule | undefined; secrets?: readonly string[] },
): string {
  const paths = [rule?.path, ...errors.map(({ path }) => path)];
  const code = paths.map((path) => findText(document, path)).find((found) => found !== undefined && found !== '');
  const isShown = !secrets.some((secret) => secret !== '' && code?.includes(secret));
  return joinCarrierWords([`HTTP ${status}`, isShown ? code?.slice(0, longestCode) : undefined]);
}

function readDocument({ answer = 'json', separator }: Description, body: Buffer): unknown {
  const text = body.toString('utf8');
  if (answer === 'json') return parseJson(text);
  return separator === undefined ? [text.trim()] : text.split(separator).map((piece) => piece.trim());
}

function fits(rule: { status?: number[]; path?: string; in?: unknown[] }, status: number, document: unknown): boolean {
  if (rule.status !== undefined && !rule.status.includes(status)) return false;
  if (rule.path === undefined) return true;
  const wanted = (rule.in ?? []).map(String);
  return findAll(document, rule.path).some((value) => typeof value !== 'object' && wanted.includes(String(value)));
}

/** An answer that should have an id and has none is broken: the text may have been sent. */
function accepted(description: Description, document: unknown, text: SentText): SubmitResult {
  const { id: path, receipt } = description;
  if (path === undefined) return { outcome: 'accepted', carrierMessageId: text.messageId };
  const ids = findAll(document, path)
    .filter((id) => typeof id === 'string' || typeof id === 'number')
    .map((id) => readCarrierId(String(id)))
    .filter((id) => id !== '')
    .slice(0, mostIds);
  const [first] = ids;
  if (first === undefined) return { outcome: 'in_doubt', reported: 'an answer without an id' };
  const details = readDetails(description.told, document);
  const result = { outcome: 'accepted', carrierMessageId: first, ...(details && { details }) } as const;
  if (ids.length > 1) return { ...result, long: partsOf(ids.map((id) => ({ id, key: id }))) };
  if (receipt?.part === undefined || text.segments < 2) return result;
  const keys = Array.from({ length: text.segments }, (_, index) => ({ id: first, key: partKey(first, index + 1) }));
  return { ...result, long: partsOf(keys) };
}

const longestDetail = 32;

/** A price must be a decimal number; it stays as the provider wrote it. */
function readDetails(paths: Description['told'], document: unknown): AcceptedDetails | undefined {
  const [parts, price, currency, network] = [paths?.parts, paths?.price, paths?.currency, paths?.network].map((path) =>
    findText(document, path)?.slice(0, longestDetail),
  );
  const details = {
    ...(parts !== undefined && /^\d{1,3}$/.test(parts) && { parts: Number(parts) }),
    ...(price !== undefined && /^-?\d{1,12}(?:\.\d{1,12})?$/.test(price) && { price: price.replace('-', '') }),
    ...(currency !== undefined && /^[A-Za-z]{3}$/.test(currency) && { currency: currency.toUpperCase() }),
    ...(network !== undefined && /^\d{5,6}$/.test(network) && { network }),
  };
  return Object.keys(details).length === 0 ? undefined : details;
}

/** The provider cuts the text, and reports on each part: under an id of its own, or under one id with its number. */
function partsOf(ids: { id: CarrierId; key: CarrierId }[]): LongText<CarrierId> {
  return {
    total: ids.length,
    form: 'http',
    needed: ids.length,
    parts: ids.map(({ id, key }, index) => ({
      part: index + 1,
      state: 'accepted',
      carrierMessageId: id,
      receiptKey: key,
    })),
  };
}

function byRule({ class: kind, code, after }: ErrorRule, answer: ProviderAnswer, document: unknown): Verdict {
  const afterMs = after === undefined ? undefined : pauseOf(after, answer, document);
  const pause = afterMs === undefined ? {} : { afterMs };
  switch (kind) {
    case 'never':
      return { result: { outcome: 'never', error: code ?? 'blocked_by_carrier' }, isAccount: false };
    case 'elsewhere':
      return { result: { outcome: 'retry', error: code ?? 'blocked_by_carrier', elsewhere: true }, isAccount: false };
    case 'retry':
      return { result: { outcome: 'retry', error: code ?? 'carrier_unavailable', ...pause }, isAccount: false };
    case 'throttled':
      return { result: { outcome: 'throttled', ...pause }, isAccount: false };
    case 'account':
      return account;
    case 'in_doubt':
      return inDoubt;
  }
}

const account: Verdict = {
  result: { outcome: 'retry', error: 'carrier_unavailable', elsewhere: true, account: true },
  isAccount: true,
};
const inDoubt: Verdict = { result: { outcome: 'in_doubt' }, isAccount: false };

/** The meaning of a status that the description does not name. */
function byStatus(answer: ProviderAnswer): Verdict {
  const { status } = answer;
  if (status === 429) {
    const afterMs = pauseOf('header:retry-after', answer, undefined);
    return { result: { outcome: 'throttled', ...(afterMs !== undefined && { afterMs }) }, isAccount: false };
  }
  // A redirect is never followed: it would carry the text and the secrets elsewhere.
  if (status === 401 || status === 402 || status === 403 || (status >= 300 && status < 400)) return account;
  // The provider did not get the whole request.
  if (status === 408) return { result: { outcome: 'retry', error: 'carrier_unavailable' }, isAccount: false };
  if (status >= 400 && status < 500)
    return { result: { outcome: 'never', error: 'blocked_by_carrier' }, isAccount: false };
  return inDoubt;
}

/** Retry-After in seconds; its form with a date is left out, as no provider uses it for texts. */
function pauseOf(after: string, { headers }: ProviderAnswer, document: unknown): number | undefined {
  const found = after.startsWith('header:') ? headers[after.slice(7).toLowerCase()] : findText(document, after);
  const seconds = typeof found === 'string' && /^\d{1,6}(?:\.\d{1,6})?$/.test(found) ? Number(found) : undefined;
  return seconds === undefined ? undefined : Math.min(longestPauseMs, Math.ceil(seconds * 1000));
}
