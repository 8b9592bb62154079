import { Button, Skeleton } from '@mantine/core';
import type { CSSProperties, ReactNode } from 'react';
import { Link } from 'wouter';
import { words } from '../../words/list.ts';
import { fromList } from '../drawer/drawer.tsx';
import { EmptyState } from '../notice/empty-state.tsx';
import { ProblemCallout } from '../notice/problem-callout.tsx';
import { Pager } from './pager.tsx';
import styles from './record-list.module.css';
import type { Pages } from './use-pages.ts';

interface RecordListProps<Item> extends Omit<RowsProps<Item>, 'items'> {
  pages: Pages<Item>;
  searched: boolean;
  /** Shown if there is nothing at all. */
  nothing: { title: string; text: ReactNode; tryHref?: string };
  /** Names the items in the total, such as "messages". */
  counted: (count: number) => string;
}

interface RowsProps<Item> {
  label: string;
  items: Item[];
  /** The headings of the columns: four; a narrow screen shows none. */
  columns: string[];
  /** The width of the first column, if its words are long. */
  firstWidth?: string;
  hrefOf: (item: Item) => string;
  /** The id of the record that the drawer shows. */
  opened: string | undefined;
  idOf: (item: Item) => string;
  renderItem: (item: Item) => ReactNode;
  /** Puts items that belong together under a heading; undefined for an item that stands alone. */
  groupOf?: (item: Item) => string | undefined;
  renderGroup?: (key: string, items: Item[]) => ReactNode;
}

/** A list of records with a total, by pages. Each row opens the drawer. */
export function RecordList<Item>(props: RecordListProps<Item>) {
  const { pages, searched, nothing } = props;
  const { items, problem, reload } = pages;
  return (
    <>
      <ProblemCallout problem={problem} onRetry={reload} />
      {items === undefined && problem === undefined && <Skeleton height={180} aria-label={words.loading} />}
      {items?.length === 0 && searched && <EmptyState title={words.noMatch.title}>{words.noMatch.next}</EmptyState>}
      {items?.length === 0 && !searched && (
        <EmptyState
          title={nothing.title}
          action={
            nothing.tryHref !== undefined && (
              <Button component={Link} href={nothing.tryHref}>
                {words.tryIt}
              </Button>
            )
          }
        >
          {nothing.text}
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && <Rows {...props} items={items} />}
      {items !== undefined && <Pager pages={pages} counted={props.counted} />}
    </>
  );
}

/** The rows of a list, each a link that opens the drawer. */
export function Rows<Item>(props: RowsProps<Item>) {
  const { label, columns, firstWidth = '120px', items, groupOf } = props;
  return (
    <ul className={styles.list} aria-label={label} style={{ '--first': firstWidth } as CSSProperties}>
      <li className={styles.heads} aria-hidden="true">
        {columns.map((column) => (
          <span key={column}>{column}</span>
        ))}
      </li>
      {groupsOf(items, groupOf).map(({ key, items: grouped }) =>
        key === undefined ? (
          grouped.map((item) => <Row key={props.idOf(item)} {...props} item={item} />)
        ) : (
          <Group key={`${key} ${grouped.map(props.idOf)[0]}`} {...props} group={key} items={grouped} />
        ),
      )}
    </ul>
  );
}

function Group<Item>({ group, items, renderGroup, ...row }: RowsProps<Item> & { group: string }) {
  return (
    <li>
      <details className={styles.group}>
        <summary className={styles.item}>{renderGroup?.(group, items)}</summary>
        <ul className={styles.inner}>
          {items.map((item) => (
            <Row key={row.idOf(item)} {...row} item={item} />
          ))}
        </ul>
      </details>
    </li>
  );
}

type RowProps<Item> = Pick<RowsProps<Item>, 'hrefOf' | 'idOf' | 'opened' | 'renderItem'> & { item: Item };

function Row<Item>({ item, hrefOf, idOf, opened, renderItem }: RowProps<Item>) {
  return (
    <li>
      <Link
        href={hrefOf(item)}
        state={fromList}
        className={styles.item ?? ''}
        aria-current={idOf(item) === opened || undefined}
      >
        {renderItem(item)}
      </Link>
    </li>
  );
}

/** Items that follow each other with the same key form a group. */
function groupsOf<Item>(items: Item[], groupOf: ((item: Item) => string | undefined) | undefined) {
  const groups: { key: string | undefined; items: Item[] }[] = [];
  for (const item of items) {
    const key = groupOf?.(item);
    const last = groups.at(-1);
    if (key !== undefined && last?.key === key) last.items.push(item);
    else groups.push({ key, items: [item] });
  }
  return groups;
}

/** The parts of a row, in its four columns. */
export function RowNumber({ children }: { children: string | null }) {
  return <span className={styles.number}>{children ?? '–'}</span>;
}

export function RowText({ children }: { children: ReactNode }) {
  return <span className={styles.text}>{children}</span>;
}

export function Quiet({ children }: { children: ReactNode }) {
  return <span className={styles.quiet}>{children}</span>;
}
