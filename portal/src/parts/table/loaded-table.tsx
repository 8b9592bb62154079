import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useList } from '../../session/use-load.ts';
import { EmptyState } from '../notice/empty-state.tsx';
import { ProblemCallout } from '../notice/problem-callout.tsx';
import { Panel } from '../panel.tsx';
import { ShowMore } from './show-more.tsx';
import { type Column, Table } from './table.tsx';

interface LoadedTableProps<Item> {
  path: string;
  /** The interval between reloads; undefined loads once. */
  everyMs?: number;
  label: string;
  columns: Column[];
  cellsOf: (item: Item) => ReactNode[];
  nothing: { title: string; text: string };
}

/** A list of the service as a table that can show more entries. */
export function LoadedTable<Item extends { id: string }>(props: LoadedTableProps<Item>) {
  const { path, everyMs, label, columns, cellsOf, nothing } = props;
  const { data, problem, reload, showMore } = useList<Item>(path, everyMs);
  if (data === undefined) {
    return problem === undefined ? <Skeleton height={260} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  if (data.length === 0) return <EmptyState title={nothing.title}>{nothing.text}</EmptyState>;
  return (
    <Panel>
      <Table label={label} columns={columns} rows={data.map((item) => ({ key: item.id, cells: cellsOf(item) }))} />
      <ShowMore onClick={showMore} />
    </Panel>
  );
}
