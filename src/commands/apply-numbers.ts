import { isDeepStrictEqual } from 'node:util';
import type { Static } from 'typebox';
import { Type } from 'typebox';
import { problemsOf } from '../http/request/validation.ts';
import type { GivenNumber, NumberService } from '../inbound/number-service.ts';
import type { OwnNumber } from '../inbound/own-number.ts';
import { isId } from '../platform/ids.ts';
import { numberBody } from '../portal/operator/number-api.ts';
import { type ApplyPlan, type ApplyStep, type NoteOf, nothingToApply, repeated, sayWrong } from './apply-step.ts';

const numberSchema = Type.Object({
  number: Type.String({ maxLength: 32, expected: 'a number or a short code' }),
  ...numberBody.properties,
});
type WrittenNumber = Static<typeof numberSchema>;

export interface NumberParts {
  service: NumberService;
  isApplication: (id: string) => Promise<boolean>;
}

/** Numbers of a file are given to the applications that it names. */
export async function planNumbers(written: unknown[] | undefined, parts: NumberParts): Promise<ApplyPlan> {
  if (written === undefined) return nothingToApply;
  const given = structuredClone(written);
  const wrong: string[] = [];
  for (const [index, entry] of given.entries()) wrong.push(...(await problemsIn(entry, `numbers.${index}`, parts)));
  if (wrong.length > 0) return { ...nothingToApply, wrong };
  const numbers = (given as WrittenNumber[]).map(toGiven);
  const existing = await listAll(parts.service);
  const wanted = numbers.map(({ number, given: each }) => parts.service.placeOf(number, each));
  const twice = repeated(wanted.map(nameOf));
  if (twice.length > 0) return { ...nothingToApply, wrong: twice.map((name) => `numbers: ${name} is there twice`) };
  const names = new Set(wanted.map(nameOf));
  return {
    wrong,
    steps: numbers.map(({ number, given: each }, index) => {
      const place = wanted[index];
      const before = existing.find((other) => place !== undefined && nameOf(other) === nameOf(place));
      return planOne(number, each, before, parts.service);
    }),
    others: existing
      .filter((number) => !names.has(nameOf(number)))
      .map((number) => ({
        line: `${nameOf(number)}: deleted`,
        act: (noteOf) =>
          parts.service.remove(
            number.number,
            number.keyword,
            number.carrier,
            noteOf({ act: 'number.taken_back', id: number.number, details: { application_id: number.applicationId } }),
          ),
      })),
  };
}

async function problemsIn(entry: unknown, where: string, { service, isApplication }: NumberParts): Promise<string[]> {
  const unfit = sayWrong(where, problemsOf(numberSchema, entry));
  if (unfit.length > 0) return unfit;
  const { number, given } = toGiven(entry as WrittenNumber);
  const wrong = sayWrong(where, await service.check(number, given));
  const { applicationId } = given;
  if (!isId('app', applicationId) || !(await isApplication(applicationId)))
    wrong.push(`${where}: application_id must be the id of an application`);
  return wrong;
}

function toGiven(written: WrittenNumber): { number: string; given: GivenNumber } {
  const { number, application_id: applicationId, api, carrier = null, keyword = null, ignored_words } = written;
  return { number, given: { applicationId, api, carrier, keyword, ignoredWords: ignored_words } };
}

function planOne(number: string, given: GivenNumber, before: OwnNumber | undefined, service: NumberService): ApplyStep {
  const name = nameOf(service.placeOf(number, given));
  const { applicationId: application_id, api } = given;
  const put = (noteOf: NoteOf) =>
    service.put(number, given, noteOf({ act: 'number.given', id: number, details: { application_id, api } }));
  if (before === undefined) return { line: `${name}: new`, act: put };
  if (before.applicationId !== given.applicationId)
    return { line: `${name}: ${before.applicationId} → ${given.applicationId}`, act: put };
  const words = (list: readonly string[]) => [...new Set(list.map((word) => word.toUpperCase()))];
  const isSame = before.api === given.api && isDeepStrictEqual(before.ignoredWords, words(given.ignoredWords));
  return isSame ? { line: `${name}: unchanged` } : { line: `${name}: changed`, act: put };
}

function nameOf({ number, keyword, carrier }: Pick<OwnNumber, 'number' | 'keyword' | 'carrier'>): string {
  const by = carrier === null ? '' : ` by ${carrier}`;
  return `number ${number}${keyword === null ? '' : ` ${keyword}`}${by}`;
}

const pageSize = 1000;

/** All numbers, oldest first. */
export async function listAll(service: NumberService): Promise<OwnNumber[]> {
  const all: OwnNumber[] = [];
  for (let after: string | undefined; ; ) {
    const page = await service.list({}, { limit: pageSize, after });
    all.push(...page);
    if (page.length < pageSize) return all.reverse();
    after = page.at(-1)?.id;
  }
}

/** A number as `export` writes it. */
export function exportNumber({ number, applicationId, api, carrier, keyword, ignoredWords }: OwnNumber): object {
  return {
    number,
    application_id: applicationId,
    api,
    ...(carrier !== null && { carrier }),
    ...(keyword !== null && { keyword }),
    ...(ignoredWords.length > 0 && { ignored_words: ignoredWords }),
  };
}
