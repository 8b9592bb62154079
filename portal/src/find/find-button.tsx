import { Button } from '@mantine/core';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { isReferencePath } from '../location.ts';
import { Icon } from '../parts/icon.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/find.tsx';
import styles from './find-button.module.css';

const FindDialog = lazy(() => import('./find-dialog.tsx'));

/** Opens Find for people who are signed in: by the button, Ctrl-K, or `/` outside of inputs. */
export function FindButton() {
  const { account } = useSession();
  const [isOpen, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  const [path] = useLocation();
  const isSignedIn = account !== null;
  // The reference has these keys for its own search, which needs no session.
  useFindKeys(isSignedIn && !isReferencePath(path), () => setOpen(true));
  if (!isSignedIn) return null;
  return (
    <>
      <Button
        variant="default"
        size="sm"
        className={styles.button ?? ''}
        aria-keyshortcuts="Control+K /"
        onClick={() => setOpen(true)}
      >
        <Icon name="search" size={16} />
        <span className={styles.buttonText}>{words.button}</span> <kbd className={styles.keys}>{words.keys}</kbd>
      </Button>
      {isOpen && (
        <Suspense fallback={null}>
          <FindDialog close={close} />
        </Suspense>
      )}
    </>
  );
}

function useFindKeys(isActive: boolean, open: () => void): void {
  useEffect(() => {
    if (!isActive) return;
    function press(event: KeyboardEvent): void {
      const target = event.target as HTMLElement;
      const isTyping = target.matches('input,textarea,select,[contenteditable]');
      const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
      const isCommand = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (!isSlash && !isCommand) return;
      event.preventDefault();
      open();
    }
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}
