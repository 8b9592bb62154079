import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Icon } from '../../parts/icon.tsx';
import { words } from '../../words/operator/pages.ts';
import styles from './navigation.module.css';
import { pageGroups } from './page-list.ts';

const listId = 'operator-pages';

/** The pages of operators: a column beside the page, or a menu above it where the window is narrow. */
export function OperatorNavigation() {
  const [location] = useLocation();
  const [, , here = ''] = location.split('/');
  const [opened, setOpened] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the menu.
  useEffect(() => setOpened(false), [location]);
  const current = pageGroups.find(({ pages }) => pages[here] !== undefined);
  return (
    <nav
      className={styles.nav}
      aria-label={words.navigation}
      data-opened={opened || undefined}
      onKeyDown={(event) => event.key === 'Escape' && setOpened(false)}
    >
      <button
        type="button"
        className={styles.menu}
        aria-expanded={opened}
        aria-controls={listId}
        onClick={() => setOpened(!opened)}
      >
        <Icon name={opened ? 'cross' : 'menu'} size={20} />
        <span className={styles.where}>
          {current !== undefined && <span className={styles.group}>{current.title}</span>}
          <strong>{current?.pages[here]?.title ?? words.navigation}</strong>
        </span>
        <span className={styles.all}>{words.allPages}</span>
      </button>
      <div id={listId} className={styles.list}>
        {pageGroups.map(({ title: group, pages }) => (
          <section key={group} aria-label={group}>
            <h2 className={styles.title}>{group}</h2>
            {Object.entries(pages).map(([path, { title }]) => (
              <Link
                key={path}
                href={`/operator/${path}`}
                className={styles.link ?? ''}
                aria-current={here === path ? 'page' : undefined}
              >
                {title}
              </Link>
            ))}
          </section>
        ))}
      </div>
    </nav>
  );
}
