import { words as tabWords } from '../words/applications.ts';
import { words } from '../words/find.tsx';
import { words as operatorWords } from '../words/operator/pages.ts';

export interface PageEntry {
  kind: string;
  title: string;
  /** Shown beside the title. */
  about: string;
  href: string;
  /** More words to find it by. */
  more: string;
}

const operatorTitles: Record<string, string> = {
  ...operatorWords.pages,
  'opt-outs': operatorWords.pages.optOuts,
  'sign-ins': operatorWords.pages.signIns,
  'smpp-binds': operatorWords.pages.smppBinds,
};

/** The pages of the portal. The tabs are those of the application at which the person is. */
export function pageEntries(given: {
  isOperator: boolean;
  isOwner: boolean;
  application: string | undefined;
}): PageEntry[] {
  const { applications, account, audit, reference, operations, operator, tabs } = words.pages;
  const entry = ({ title, about: more }: { title: string; about: string }, href: string, about = ''): PageEntry => ({
    ...{ kind: words.pageKind, title, about, href, more },
  });
  const tabTitles: Record<string, string> = tabWords.tabs;
  return [
    entry(applications, '/applications'),
    entry(account, '/account'),
    ...(given.isOwner ? [entry(audit, '/account/audit')] : []),
    entry(reference, '/docs'),
    entry(operations, '/docs/reference'),
    ...Object.entries(given.application === undefined ? {} : tabs).map(([tab, about]) =>
      entry({ title: tabTitles[tab] ?? tab, about }, `/applications/${given.application}/${tab}`, applications.title),
    ),
    ...Object.entries(given.isOperator ? operator : {}).map(([path, about]) =>
      entry({ title: operatorTitles[path] ?? path, about }, `/operator/${path}`, operatorWords.navigation),
    ),
  ];
}

/** The pages that have every word of the query, those that begin with it first. */
export function searchPages(entries: PageEntry[], query: string, most: number): PageEntry[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8);
  if (wanted.length === 0) return [];
  const scoreOf = ({ title, about, more }: PageEntry) => {
    const [name, rest] = [title.toLowerCase(), `${about} ${more}`.toLowerCase().split(' ')];
    let score = 0;
    for (const word of wanted) {
      const found = name.startsWith(word)
        ? 4
        : name.includes(word)
          ? 2
          : rest.some((each) => each.startsWith(word))
            ? 1
            : 0;
      if (found === 0) return 0;
      score += found;
    }
    return score;
  };
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ entry }) => entry);
}
