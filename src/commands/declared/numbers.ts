import { type Static, Type } from 'typebox';
import type { GivenNumber, NumberService } from '../../inbound/number-service.ts';
import type { OwnNumber } from '../../inbound/own-number.ts';
import { findNumbers } from '../../inbound/own-number-store.ts';
import { numberBody } from '../../portal/operator/number-api.ts';
import { changedEntry, differing, type Entry, nothingPlanned, type SectionPlan, shownFields } from './change.ts';
import { readAllEntries } from './entry.ts';
import { applicationOf, namedApplication } from './named-application.ts';
import { nameRepeated, type Planning } from './planning.ts';

const { application_id: _, ...others } = numberBody.properties;
const numberSchema = Type.Object({
  ...namedApplication,
  number: Type.String({ maxLength: 32, expected: 'a number or a short code' }),
  ...others,
});
type WrittenNumber = Static<typeof numberSchema>;

interface PlacedNumber {
  path: string;
  name: string;
  number: string;
  given: GivenNumber;
}

/** Numbers of a file are given to the applications that it names. */
export async function planNumbers(list: unknown[] | undefined, planning: Planning): Promise<SectionPlan> {
  if (list === undefined) return nothingPlanned;
  const { problems, tx, options } = planning;
  const { numbers: service } = planning.services;
  const read = readAllEntries<WrittenNumber>(list, 'numbers', numberSchema, problems);
  const placed: PlacedNumber[] = [];
  for (const { path, value, fit } of read) {
    const applicationId = applicationOf(value, path, planning);
    if (fit === undefined) continue;
    const { number, api, carrier = null, keyword = null, ignored_words: words } = fit;
    const ignoredWords = [...new Set(words.map((word) => word.toUpperCase()))];
    const given = { applicationId: applicationId ?? '', api, carrier, keyword, ignoredWords };
    if (problems.addAll(path, await service.check(number, given)) || applicationId === undefined) continue;
    placed.push({ path, name: nameOf(service.placeOf(number, given)), number, given });
  }
  nameRepeated(placed, problems);
  const wanted = [...new Set(placed.map(({ number, given }) => service.placeOf(number, given).number))];
  const stored = wanted.length === 0 ? [] : await findNumbers(tx, wanted);
  const known = new Map(stored.map((row) => [nameOf(row), row]));
  const entries = placed.map((each) => planOne(each, known.get(each.name), planning));
  if (!options.prune) return { entries, unnamed: [] };
  const named = new Set(placed.map(({ name }) => name));
  const rest = (await listAllNumbers(service)).filter((row) => !named.has(nameOf(row)));
  return { entries, unnamed: rest.map((row) => removal(row, service)) };
}

function planOne(
  { name, number, given }: PlacedNumber,
  before: OwnNumber | undefined,
  { applications, services }: Planning,
): Entry {
  const shown = ({
    applicationId,
    api,
    ignoredWords,
  }: Pick<GivenNumber, 'applicationId' | 'api' | 'ignoredWords'>) => ({
    ...{ application: applications.labelOf(applicationId), api, ignored_words: ignoredWords },
  });
  const act: Entry['act'] = ({ noteOf }) => {
    const details = { application_id: given.applicationId, api: given.api };
    return services.numbers.put(number, given, noteOf({ act: 'number.given', id: number, details }));
  };
  const { ignored_words: words, ...fields } = shown(given);
  if (before === undefined)
    return {
      ...{ action: 'create', kind: 'number', name, act },
      fields: shownFields({ ...fields, ...(words.length > 0 && { ignored_words: words }) }),
    };
  return changedEntry({ kind: 'number', name, fields: differing(shown(before), shown(given)) }, act);
}

function removal(row: OwnNumber, service: NumberService): Entry {
  const { number, keyword, carrier, applicationId } = row;
  return {
    ...{ action: 'delete', kind: 'number', name: nameOf(row), fields: [] },
    act: ({ noteOf }) => {
      const details = { application_id: applicationId };
      return service.remove(number, keyword, carrier, noteOf({ act: 'number.taken_back', id: number, details }));
    },
  };
}

function nameOf({ number, keyword, carrier }: Pick<OwnNumber, 'number' | 'keyword' | 'carrier'>): string {
  return `${number}${keyword === null ? '' : ` ${keyword}`}${carrier === null ? '' : ` by ${carrier}`}`;
}

const pageSize = 1000;

/** All numbers, oldest first. */
export async function listAllNumbers(service: NumberService): Promise<OwnNumber[]> {
  const all: OwnNumber[] = [];
  for (let after: string | undefined; ; ) {
    const page = await service.list({}, { limit: pageSize, after });
    all.push(...page);
    if (page.length < pageSize) return all.reverse();
    after = page.at(-1)?.id;
  }
}
