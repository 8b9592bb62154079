import type { PageRequest } from '../http/list-page.ts';
import { validationError } from '../http/request/validation.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Note, Tx } from '../platform/database/database.ts';
import { ApiError, type FieldProblem, notFound } from '../platform/errors.ts';
import { isId, newId } from '../platform/ids.ts';
import { canonicalNumber, type OwnNumber } from './own-number.ts';
import * as store from './own-number-store.ts';
import { firstWord, fixedWords, longestKeyword, removableWords } from './words.ts';

export interface NumberServiceOptions {
  database: Database;
  clock: Clock;
  /** Whether the application exists. It is locked until the transaction ends. */
  isApplication: (tx: Tx, id: string) => Promise<boolean>;
  /**
   * Changes an application, and those that are passed to `also`. Resolves when all nodes know, because an application may
   * send from its numbers.
   */
  change: <Result>(
    applicationId: string,
    work: (tx: Tx, also: (applicationId: string) => void) => Promise<Result>,
  ) => Promise<Result>;
  /** Whether a carrier of this name exists. */
  isCarrier: (name: string) => Promise<boolean>;
}

export type NumberService = ReturnType<typeof createNumberService>;

export type GivenNumber = Pick<OwnNumber, 'applicationId' | 'api' | 'keyword' | 'carrier' | 'ignoredWords'>;

/** Maximum number of keywords of a number. */
const mostKeys = 1000;

/** Assigns numbers to applications. */
export function createNumberService({ database, clock, isApplication, change, isCarrier }: NumberServiceOptions) {
  async function check(number: string, given: GivenNumber): Promise<FieldProblem[]> {
    const problems: FieldProblem[] = [];
    if (!isNumber(number)) problems.push({ field: 'number', message: `must be ${rightOwnNumber}` });
    const { keyword, carrier, ignoredWords } = given;
    if (keyword !== null && firstWord(keyword) !== keyword)
      problems.push({ field: 'keyword', message: keywordProblem });
    if (carrier !== null && !(await isCarrier(carrier)))
      problems.push({ field: 'carrier', message: 'must be the name of a carrier, or null for any' });
    for (const word of ignoredWords) {
      if (removableWords.includes(word)) continue;
      const why = fixedWords.includes(word) ? `${word} cannot be ignored` : `${JSON.stringify(word)} is not a keyword`;
      problems.push({ field: 'ignored_words', message: `must be among ${removableWords.join(', ')}; ${why}` });
    }
    return problems;
  }

  function toKey(number: string, keyword: string | null, carrier: string | null): store.NumberKey {
    // Postgres rejects NUL in a parameter, and no row contains one.
    if (`${number}${keyword}${carrier}`.includes('\0')) throw notFound();
    const isOneWord = keyword !== null && /^\S+$/.test(keyword);
    return { number: canonicalNumber(number), keyword: isOneWord ? (firstWord(keyword) ?? keyword) : keyword, carrier };
  }

  return {
    /** Validates a number before its assignment. */
    check(number: string, given: GivenNumber): Promise<FieldProblem[]> {
      const key = toKey(number, given.keyword, given.carrier);
      const ignoredWords = given.ignoredWords.map((word) => word.toUpperCase());
      return check(key.number, { ...given, ...key, ignoredWords });
    },

    /** The key of the entry, as it is stored. */
    placeOf: (number: string, { keyword, carrier }: Pick<GivenNumber, 'keyword' | 'carrier'>) =>
      toKey(number, keyword, carrier),

    async put(number: string, given: GivenNumber, note?: Note<OwnNumber>): Promise<OwnNumber> {
      const key = toKey(number, given.keyword, given.carrier);
      const wanted = {
        ...given,
        ...key,
        ignoredWords: [...new Set(given.ignoredWords.map((word) => word.toUpperCase()))],
      };
      const problems = await check(key.number, wanted);
      if (problems.length > 0) throw validationError(problems);
      const unknown = validationError([{ field: 'application_id', message: 'must be the id of an application' }]);
      if (!isId('app', given.applicationId)) throw unknown;
      return change(given.applicationId, async (tx, also) => {
        if (!(await isApplication(tx, given.applicationId))) throw unknown;
        const before = await store.lockNumber(tx, key);
        const count = before === undefined ? await store.countNumbersOf(tx, key.number, mostKeys) : 0;
        if (count >= mostKeys) throw tooManyKeywords();
        if (before !== undefined) also(before.applicationId);
        const nowMs = clock.nowMs();
        const id = newId('num', clock);
        const written = await store.putNumber(tx, { ...wanted, id, createdAtMs: nowMs, updatedAtMs: nowMs });
        await note?.(tx, written);
        return written;
      });
    },

    async require(number: string, keyword: string | null, carrier: string | null): Promise<OwnNumber> {
      const found = await store.findNumber(database, toKey(number, keyword, carrier));
      if (found === undefined) throw notFound();
      return found;
    },

    async remove(
      number: string,
      keyword: string | null,
      carrier: string | null,
      note?: Note<OwnNumber>,
    ): Promise<void> {
      const key = toKey(number, keyword, carrier);
      const found = await store.findNumber(database, key);
      if (found === undefined) throw notFound();
      await change(found.applicationId, async (tx, also) => {
        const lost = await store.deleteNumber(tx, key);
        if (lost === undefined) throw notFound();
        // The number may have moved to another application since it was read.
        also(lost.applicationId);
        await note?.(tx, lost);
      });
    },

    async list(filter: { number?: string | undefined; applicationId?: string | undefined }, page: PageRequest) {
      if (`${filter.number}${filter.applicationId}`.includes('\0')) return [];
      const number = filter.number === undefined ? undefined : canonicalNumber(filter.number);
      return store.listNumbers(database, { ...filter, number }, page);
    },
  };
}

export const rightOwnNumber =
  'a number with a plus and 7 to 15 digits, like +447700900123, or a short code of 3 to 8 digits';
const keywordProblem = `must be one word of 1 to ${longestKeyword} letters and digits, or null`;

function isNumber(number: string): boolean {
  return /^(?:\+[1-9][0-9]{6,14}|[0-9]{3,8})$/.test(number);
}

function tooManyKeywords(): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `This number is assigned ${mostKeys} times, the maximum. Delete one first.`,
  );
}
