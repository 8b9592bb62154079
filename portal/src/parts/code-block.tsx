import styles from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

/** Code or a credential, with a button that copies it. */
export function CodeBlock({ text, what }: { text: string; what: string }) {
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <pre className={styles.code} tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
