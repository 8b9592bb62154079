import { Button, Skeleton, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { useFilters } from '../location.ts';
import { Icon } from '../parts/icon.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/find.tsx';
import styles from './find-page.module.css';
import { addRecent } from './recent.ts';
import lines from './result-line.module.css';
import { ResultLine } from './result-line.tsx';
import { useResults } from './use-results.ts';

const longest = 128;

/** The same results as in the dialog, at an address of their own. */
export default function FindPage() {
  const { account } = useSession();
  const { values, change } = useFilters({ q: '' });
  const [typed, setTyped] = useState(values.q);
  const { groups, isSearching, problem, indexing, more } = useResults(values.q);
  const isAsked = values.q.trim() !== '';

  function submit(event: FormEvent): void {
    event.preventDefault();
    addRecent(typed);
    change({ q: typed.trim() });
  }

  return (
    <>
      <PageTitle lead={account?.operator ? words.hint.operator : words.hint.developer}>{words.title}</PageTitle>
      <Stack gap="lg">
        <form onSubmit={submit} className={styles.search}>
          <TextInput
            label={words.label}
            value={typed}
            maxLength={longest}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setTyped(event.currentTarget.value)}
            flex={1}
          />
          <Button type="submit" leftSection={<Icon name="search" size={16} />}>
            {words.page.submit}
          </Button>
        </form>
        <ProblemCallout problem={problem} />
        {indexing.length > 0 && (
          <Callout tone="wait" title={words.indexing(indexing.map((at) => at.slice(0, 10)).join(', '))} />
        )}
        {isAsked && isSearching && <Skeleton height={220} />}
        {isAsked && !isSearching && groups.length === 0 && problem === undefined && (
          <EmptyState title={words.none}>{words.noneNumber}</EmptyState>
        )}
        {!isSearching &&
          groups.map(({ title, entries }) => (
            <Panel key={title} title={title}>
              <ul className={lines.list}>
                {entries.map((entry) => (
                  <li key={entry.key}>
                    <Link href={entry.href} className={lines.result ?? ''} onClick={() => addRecent(values.q)}>
                      <ResultLine entry={entry} />
                    </Link>
                  </li>
                ))}
              </ul>
            </Panel>
          ))}
        {more !== undefined && (
          <Button variant="default" onClick={more} className={styles.more ?? ''}>
            {words.more}
          </Button>
        )}
      </Stack>
    </>
  );
}
