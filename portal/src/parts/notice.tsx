import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';
import styles from './notice.module.css';

const NoticeContext = createContext<(text: string) => void>(() => {});

const shownMs = 4000;

/** Says in a corner, and to screen readers, what has just been done. */
export function useNotice(): (text: string) => void {
  return useContext(NoticeContext);
}

export function NoticeProvider({ children }: { children: ReactNode }) {
  const [notice, setNotice] = useState<{ text: string } | undefined>(undefined);
  const tell = useCallback((text: string) => setNotice({ text }), []);
  useEffect(() => {
    if (notice === undefined) return;
    const timer = setTimeout(() => setNotice(undefined), shownMs);
    return () => clearTimeout(timer);
  }, [notice]);
  return (
    <NoticeContext value={tell}>
      {children}
      <div className={styles.place} role="status">
        {notice !== undefined && <div className={styles.notice}>{notice.text}</div>}
      </div>
    </NoticeContext>
  );
}
