import type { ReactNode } from 'react';
import { words } from '../../words/list.ts';
import styles from './table.module.css';

export type Column = string | { title: string; number: true };

interface TableProps {
  /** The table's name for screen readers. */
  label: string;
  columns: Column[];
  /** Cells by row; the keys of rows must be unique. */
  rows: { key: string; cells: ReactNode[] }[];
  /** Scrolls within the page when it has many rows. */
  tall?: boolean;
}

/** A table that scrolls sideways where it is wider than the screen. */
export function Table({ label, columns, rows, tall = false }: TableProps) {
  // A column without a title holds buttons, at the end of the row.
  const isNumber = columns.map((column) => typeof column !== 'string' || column === '');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
    <section className={styles.scroll} aria-label={words.table(label)} data-tall={tall || undefined} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map((column, index) => {
              const title = typeof column === 'string' ? column : column.title;
              return (
                <th key={title} scope="col" data-number={isNumber[index] || undefined}>
                  {title}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is identified by its column.
                <td key={index} data-number={isNumber[index] || undefined}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
