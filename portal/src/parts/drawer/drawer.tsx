import { Drawer as MantineDrawer, Skeleton, Stack } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useLocation } from 'wouter';
import type { Problem } from '../../api/problem.ts';
import { words } from '../../words/drawer.ts';
import { CopyButton } from '../copy-button.tsx';
import { Callout } from '../notice/callout.tsx';
import { ProblemCallout } from '../notice/problem-callout.tsx';
import styles from './drawer.module.css';

/** The state of a history entry that a list opened. */
export const fromList = 'from-list';

interface DrawerProps {
  /** The kind of what is shown, such as "Message". */
  kind: string;
  id: string;
  /** The page to show after closing. */
  back: string;
  /** False while it loads. */
  children: ReactNode;
  problem: Problem | undefined;
  onRetry: () => void;
  /** What to say if there is no such record. */
  notFound?: { title: string; next: string };
}

/** Shows one record beside its list: messages, verifications, requests, events and webhook deliveries. */
export function Drawer({ kind, id, back, children, problem, onRetry, notFound = words.notFound }: DrawerProps) {
  const [, navigate] = useLocation();
  useEffect(() => {
    const opener = document.activeElement;
    return () => returnFocus(opener);
  }, []);

  /** Goes back in the history to the list: with a new entry, the browser's Back would open the record again. */
  function close(): void {
    if (history.state === fromList) history.back();
    else navigate(back, { replace: true });
  }

  return (
    <MantineDrawer
      opened
      onClose={close}
      position="right"
      size="lg"
      title={
        <span className={styles.title}>
          {kind} <code>{id}</code> <CopyButton text={id} what={words.idOf(kind)} small />
        </span>
      }
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <Stack gap="lg">
        {problem?.status === 404 && (
          <Callout tone="bad" title={notFound.title}>
            {notFound.next}
          </Callout>
        )}
        {problem !== undefined && problem.status !== 404 && <ProblemCallout problem={problem} onRetry={onRetry} />}
        {children === false && problem === undefined && <Skeleton height={260} />}
        {children}
      </Stack>
    </MantineDrawer>
  );
}

/** Focuses the record's row in the list, or the link of the section if the page opened with the record. */
function returnFocus(opener: Element | null): void {
  const isThere = opener !== document.body && opener?.isConnected === true;
  const target = isThere ? opener : document.querySelector('[data-sections] [aria-current="page"]');
  // The drawer releases the focus only after this.
  if (target instanceof HTMLElement) setTimeout(() => target.focus({ preventScroll: true }));
}
