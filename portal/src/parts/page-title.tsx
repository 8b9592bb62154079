import { Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { words } from '../words/parts.tsx';
import styles from './page-title.module.css';

/** The first page leaves the focus where it is; each later page moves it to its heading. */
let firstPage = true;

interface PageTitleProps {
  children: string;
  /** The browser's title, if it differs from the heading. */
  documentTitle?: string;
  lead?: ReactNode;
  actions?: ReactNode;
}

/** The heading of a page. It takes the focus, so that a screen reader announces the new page. */
export function PageTitle({ children, documentTitle = children, lead, actions }: PageTitleProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!firstPage) heading.current?.focus({ preventScroll: true });
    if (!firstPage) window.scrollTo(0, 0);
    firstPage = false;
  }, []);

  return (
    <div className={styles.row}>
      <title>{words.documentTitle(documentTitle)}</title>
      <div>
        <Title order={1} ref={heading} tabIndex={-1}>
          {children}
        </Title>
        {lead !== undefined && <p className={styles.lead}>{lead}</p>}
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
  );
}
