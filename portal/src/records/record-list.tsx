import { Button, Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import type { LoadedList } from '../session/use-load.ts';
import { words as allWords } from '../words/records.tsx';
import { fromList } from './record-drawer.tsx';
import styles from './records.module.css';

const words = allWords.list;

interface RecordListProps<Item> {
  list: LoadedList<Item>;
  /** The headings of the columns; a narrow screen shows none. */
  columns: string[];
  searched: boolean;
  /** Text of the empty list. */
  nothing: string;
  tryHref: string;
  hrefOf: (item: Item) => string;
  renderItem: (item: Item) => ReactNode;
}

export function RecordList<Item>(props: RecordListProps<Item>) {
  const { list, columns, searched, nothing, tryHref, hrefOf, renderItem } = props;
  const { data, problem, reload, showMore } = list;
  return (
    <>
      <ProblemCallout problem={problem} onRetry={reload} />
      {data === undefined && problem === undefined && <Skeleton height={180} aria-label={words.loading} />}
      {data?.length === 0 && searched && <EmptyState title={words.noMatch.title}>{words.noMatch.next}</EmptyState>}
      {data?.length === 0 && !searched && (
        <EmptyState
          title={words.none}
          action={
            <Button component={Link} href={tryHref}>
              {words.tryIt}
            </Button>
          }
        >
          {nothing}
        </EmptyState>
      )}
      {data !== undefined && data.length > 0 && (
        <ul className={styles.list}>
          <li className={styles.heads} aria-hidden="true">
            {columns.map((column) => (
              <span key={column}>{column}</span>
            ))}
          </li>
          {data.map((item) => (
            <li key={hrefOf(item)}>
              <Link href={hrefOf(item)} state={fromList} className={styles.item ?? ''}>
                {renderItem(item)}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {showMore && (
        <Button variant="default" onClick={showMore} style={{ alignSelf: 'center' }}>
          {data?.length === 0 ? words.showOlder : words.showMore}
        </Button>
      )}
    </>
  );
}
