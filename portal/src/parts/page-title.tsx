import { Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import styles from './page-title.module.css';

/** The page that a person opened needs no moving of the focus; every one they go to from there does. */
let firstPage = true;

interface PageTitleProps {
  children: string;
  /** For the browser's title, when it should say more. */
  documentTitle?: string;
  lead?: ReactNode;
  actions?: ReactNode;
}

/** The heading that takes the focus when its page opens, so that a screen reader says where one is. */
export function PageTitle({ children, documentTitle = children, lead, actions }: PageTitleProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!firstPage) heading.current?.focus({ preventScroll: true });
    if (!firstPage) window.scrollTo(0, 0);
    firstPage = false;
  }, []);

  return (
    <div className={styles.row}>
      <title>{`${documentTitle} · Heliograph`}</title>
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
