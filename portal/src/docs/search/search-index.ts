import type { Field } from '../model/fields.ts';
import type { Api, Operation } from '../model/operations.ts';
import { meaningsOf } from './synonyms.ts';

export interface SearchEntry {
  kind: 'operation' | 'field' | 'error' | 'guide';
  title: string;
  /** Shown beside the title: a path, or the location of a field. */
  about: string;
  href: string;
  method?: string;
  /** More words to find it by. */
  words: string;
  /** An application makes this call; others are calls of the portal and of operators. */
  isForApplications?: boolean;
}

interface ErrorToFind {
  name: string;
  status: string;
  summary: string;
}

export function errorEntries(errors: ErrorToFind[]): SearchEntry[] {
  return errors.map(({ name, status, summary }) => ({
    kind: 'error',
    title: name,
    about: summary.replaceAll('`', ''),
    href: `/docs/errors/${name}`,
    words: `${status} error`,
  }));
}

/** The text of a guide's sections by slug; the text before the first section has no id. */
export type GuideSections = Record<string, { id: string; text: string }[]>;

interface GuideToFind {
  slug: string;
  title: string;
  summary: string;
  headings: { id: string; text: string }[];
}

export function guideEntries(guides: GuideToFind[], sections: GuideSections = {}): SearchEntry[] {
  return guides.flatMap(({ slug, title, summary, headings }): SearchEntry[] => {
    const textOf = (wanted: string) => sections[slug]?.find(({ id }) => id === wanted)?.text ?? '';
    return [
      { kind: 'guide', title, about: summary, href: `/docs/guides/${slug}`, words: `${slug} ${textOf('')}` },
      ...headings.map(
        ({ id, text }): SearchEntry => ({
          kind: 'guide',
          title: text,
          about: title,
          href: `/docs/guides/${slug}#${id}`,
          words: textOf(id),
        }),
      ),
    ];
  });
}

export function operationEntries(apis: Api[]): SearchEntry[] {
  return apis.flatMap(({ name, operations }) => operations.flatMap((operation) => entriesOf(operation, name)));
}

function entriesOf(operation: Operation, api: string): SearchEntry[] {
  const { id, method, path, summary, parameters, body, credentials } = operation;
  const isForApplications = credentials.some((kind) => kind === 'apikey' || kind === 'token' || kind === 'client');
  const href = `/docs/reference/${id}`;
  const about = `${summary} · ${api}`;
  const fields = [
    ...parameters.flatMap(({ place, field }) => fieldEntries([field], place, '')),
    ...fieldEntries(body?.fields ?? [], 'body', ''),
  ];
  return [
    {
      kind: 'operation',
      title: summary,
      about: path,
      href,
      method,
      words: `${id} ${method} ${api} ${operation.description}`,
      isForApplications,
    },
    ...fields.map(
      ({ title, place }): SearchEntry => ({
        kind: 'field',
        title,
        about,
        href: `${href}#${place}`,
        words: '',
        isForApplications,
      }),
    ),
  ];
}

function fieldEntries(fields: Field[], place: string, before: string): { title: string; place: string }[] {
  return fields.flatMap((field) => {
    const at = `${place}-${field.name}`;
    const title = `${before}${field.name}`;
    return [{ title, place: at }, ...fieldEntries(field.fields, at, `${title}.`)];
  });
}

const rank: Record<SearchEntry['kind'], number> = { operation: 3, guide: 2, field: 1, error: 1 };

/** Many calls have a field of the same name: the list shows the best few of them. */
const mostOfOneField = 3;

/** The entries that have every word of the query, the best first. */
export function search(entries: SearchEntry[], query: string, most = 30): SearchEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 12);
  if (words.length === 0) return [];
  const found = entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry);
  return withoutRepeats(found).slice(0, most);
}

function withoutRepeats(entries: readonly SearchEntry[]): SearchEntry[] {
  const seen = new Map<string, number>();
  return entries.filter(({ kind, title }) => {
    const count = (seen.get(title) ?? 0) + 1;
    if (kind === 'field') seen.set(title, count);
    return count <= mostOfOneField;
  });
}

/** Most readers write applications: their calls come before guides, and guides before the calls of the portal. */
const applicationBonus = 15;
const exactScore = 40;
/** The maximum score of one word among several, or of a synonym. */
const mostInPart = 20;

/** Zero if a word is missing. A match in the title counts more than one beside it, and the start of a word more than its middle. */
function scoreOf(entry: SearchEntry, words: string[]): number {
  const { title, rest } = textOf(entry);
  const isCall = entry.kind === 'operation' && entry.isForApplications;
  let score = rank[entry.kind] + (isCall ? applicationBonus : 0);
  for (const word of words) {
    const [, ...synonyms] = meaningsOf(word);
    const bySynonym = synonyms.map((each) => Math.min(wordScore(title, rest, each), mostInPart));
    // If the query has several words, a title that equals only one of them is no exact match.
    const byWord = Math.min(wordScore(title, rest, word), words.length === 1 ? exactScore : mostInPart);
    const found = Math.max(byWord, ...bySynonym);
    if (found === 0) return 0;
    score += found;
  }
  const isOfPortal = (entry.kind === 'operation' || entry.kind === 'field') && !entry.isForApplications;
  return isOfPortal ? score / 2 : score;
}

function wordScore(title: string, rest: string, word: string): number {
  if (title === word) return exactScore;
  if (startsIn(title, word)) return 20;
  if (title.includes(word)) return 10;
  return startsIn(rest, word) ? 4 : rest.includes(word) ? 1 : 0;
}

const lowered = new WeakMap<SearchEntry, { title: string; rest: string }>();

/** In lower case, made once: the guides are long, and every key press searches them. */
function textOf(entry: SearchEntry): { title: string; rest: string } {
  let text = lowered.get(entry);
  if (text === undefined) {
    text = { title: entry.title.toLowerCase(), rest: `${entry.about} ${entry.words}`.toLowerCase() };
    lowered.set(entry, text);
  }
  return text;
}

/** Whether a word of the text begins with it. */
function startsIn(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) return true;
  return false;
}
