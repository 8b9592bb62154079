import { Button, Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { LoadedList } from '../api/use-load.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import styles from './records.module.css';

interface RecordListProps<Item> {
  list: LoadedList<Item>;
  searched: boolean;
  /** Text of the empty list. */
  nothing: string;
  tryHref: string;
  hrefOf: (item: Item) => string;
  renderItem: (item: Item) => ReactNode;
}

export function RecordList<Item>({ list, searched, nothing, tryHref, hrefOf, renderItem }: RecordListProps<Item>) {
  const { data, problem, reload, showMore } = list;
  return (
    <>
      <ProblemCallout problem={problem} onRetry={reload} />
      {data === undefined && problem === undefined && <Skeleton height={180} aria-label="Loading" />}
      {data?.length === 0 && searched && <EmptyState title="No results">Change or clear the search.</EmptyState>}
      {data?.length === 0 && !searched && (
        <EmptyState
          title="Nothing here yet"
          action={
            <Button component={Link} href={tryHref}>
              Try it
            </Button>
          }
        >
          {nothing}
        </EmptyState>
      )}
      {data !== undefined && data.length > 0 && (
        <ul className={styles.list}>
          {data.map((item) => (
            <li key={hrefOf(item)}>
              <Link href={hrefOf(item)} className={styles.item ?? ''}>
                {renderItem(item)}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {showMore && (
        <Button variant="default" onClick={showMore} style={{ alignSelf: 'center' }}>
          Show more
        </Button>
      )}
    </>
  );
}
