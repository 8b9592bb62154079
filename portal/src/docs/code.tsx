import { useMemo } from 'react';
import { CopyButton } from '../parts/copy-button.tsx';
import styles from './code.module.css';
import { highlight } from './highlight.ts';

interface CodeProps {
  text: string;
  language: string;
  /** Completes "Copy …". */
  what: string;
}

/** Code in colours, with a button that copies it. */
export function Code({ text, language, what }: CodeProps) {
  const tokens = useMemo(() => highlight(text, language), [text, language]);
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <pre className={styles.code} tabIndex={0}>
        <code>
          {tokens.map(({ kind, text: piece }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a piece is identified by its index.
            <span key={index} data-kind={kind === 'text' ? undefined : kind}>
              {piece}
            </span>
          ))}
        </code>
      </pre>
      <div className={styles.copy}>
        <CopyButton text={text} what={what} />
      </div>
    </div>
  );
}
