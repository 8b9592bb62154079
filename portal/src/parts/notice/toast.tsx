import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';
import styles from './toast.module.css';

const ToastContext = createContext<(text: string) => void>(() => {});

const shownMs = 4000;

/** Shows a short message in a corner and announces it to screen readers. */
export function useToast(): (text: string) => void {
  return useContext(ToastContext);
}

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toast, setToast] = useState<{ text: string } | undefined>(undefined);
  const showToast = useCallback((text: string) => setToast({ text }), []);
  useEffect(() => {
    if (toast === undefined) return;
    const timer = setTimeout(() => setToast(undefined), shownMs);
    return () => clearTimeout(timer);
  }, [toast]);
  return (
    <ToastContext value={showToast}>
      {children}
      <div className={styles.place} role="status">
        {toast !== undefined && <div className={styles.toast}>{toast.text}</div>}
      </div>
    </ToastContext>
  );
}
