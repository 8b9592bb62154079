import type { Field } from '../model/fields.ts';
import type { Api, Operation } from '../model/operations.ts';

export interface SearchEntry {
  kind: 'operation' | 'field' | 'error' | 'guide';
  title: string;
  /** Shown beside the title: a path, or the location of a field. */
  about: string;
  href: string;
  method?: string;
  /** More words to find it by. */
  words: string;
}

interface GuideToFind {
  slug: string;
  title: string;
  summary: string;
  headings: { id: string; text: string }[];
}

export function guideEntries(guides: GuideToFind[]): SearchEntry[] {
  return guides.flatMap(({ slug, title, summary, headings }): SearchEntry[] => [
    { kind: 'guide', title, about: summary, href: `/docs/guides/${slug}`, words: slug },
    ...headings.map(
      ({ id, text }): SearchEntry => ({
        kind: 'guide',
        title: text,
        about: title,
        href: `/docs/guides/${slug}#${id}`,
        words: '',
      }),
    ),
  ]);
}

export function operationEntries(apis: Api[]): SearchEntry[] {
  return apis.flatMap(({ name, operations }) => operations.flatMap((operation) => entriesOf(operation, name)));
}

function entriesOf(operation: Operation, api: string): SearchEntry[] {
  const { id, method, path, summary, parameters, body, errors } = operation;
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
    },
    ...fields.map(
      ({ title, place }): SearchEntry => ({ kind: 'field', title, about, href: `${href}#${place}`, words: '' }),
    ),
    ...errors.map(
      ({ code, status }): SearchEntry => ({
        kind: 'error',
        title: code,
        about: `${status} · ${about}`,
        href: `${href}#error-${code}`,
        words: status,
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

/** The entries that have every word of the query, the best first. */
export function search(entries: SearchEntry[], query: string, most = 30): SearchEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 12);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ entry }) => entry);
}

/** Zero if a word is missing. A match in the title counts more than one beside it, and the start of a word more than its middle. */
function scoreOf(entry: SearchEntry, words: string[]): number {
  const title = entry.title.toLowerCase();
  const rest = `${entry.about} ${entry.words}`.toLowerCase();
  let score = rank[entry.kind];
  for (const word of words) {
    const found = title === word ? 40 : startsIn(title, word) ? 20 : title.includes(word) ? 10 : restScore(rest, word);
    if (found === 0) return 0;
    score += found;
  }
  return score;
}

function restScore(rest: string, word: string): number {
  return startsIn(rest, word) ? 4 : rest.includes(word) ? 1 : 0;
}

function startsIn(text: string, word: string): boolean {
  const at = text.indexOf(word);
  return at === 0 || (at > 0 && text.split(/[^\p{L}\p{N}]+/u).some((each) => each.startsWith(word)));
}
