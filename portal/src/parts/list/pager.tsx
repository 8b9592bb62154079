import { Button } from '@mantine/core';
import { words } from '../../words/list.ts';
import styles from './record-list.module.css';
import type { Pages } from './use-pages.ts';

interface PagerProps {
  pages: Pages<unknown>;
  counted: (count: number) => string;
}

/** The total of a list, and the way to its other pages. */
export function Pager({ pages, counted }: PagerProps) {
  const { total, page, items = [], newest, newer, older } = pages;
  if (page === 1 && items.length === 0 && older === undefined) return null;
  return (
    <nav className={styles.pager} aria-label={words.pages}>
      <p className={styles.total}>
        {total !== undefined && (total.more ? words.more(counted(total.total)) : counted(total.total))}
        {(page > 1 || older !== undefined) && words.page(page, total !== undefined)}
      </p>
      <div className={styles.buttons}>
        {page > 1 && (
          <Button variant="default" size="xs" onClick={newest}>
            {words.newest}
          </Button>
        )}
        {newer !== undefined && (
          <Button variant="default" size="xs" onClick={newer}>
            {words.newer}
          </Button>
        )}
        {older !== undefined && (
          <Button variant="default" size="xs" onClick={older}>
            {items.length === 0 ? words.searchOlder : words.older}
          </Button>
        )}
      </div>
    </nav>
  );
}
