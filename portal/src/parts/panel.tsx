import { Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import styles from './panel.module.css';

interface PanelProps {
  title?: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}

/** A section of a page, with a title. */
export function Panel({ title, lead, actions, children }: PanelProps) {
  const id = useId();
  const head = title !== undefined || actions !== undefined;
  return (
    <section className={styles.panel} aria-labelledby={title === undefined ? undefined : id}>
      {head && (
        <div className={styles.head}>
          <div>
            {title !== undefined && (
              <Title order={2} id={id}>
                {title}
              </Title>
            )}
            {lead !== undefined && <p className={styles.lead}>{lead}</p>}
          </div>
          {actions}
        </div>
      )}
      {children}
    </section>
  );
}
