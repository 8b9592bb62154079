import styles from './code-block.module.css';
import { Copy } from './copy.tsx';

/** Text for a machine, with a button that copies it. */
export function CodeBlock({ text, what }: { text: string; what: string }) {
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by keyboard. */}
      <pre className={styles.code} tabIndex={0}>
        {text}
      </pre>
      <Copy text={text} what={what} />
    </div>
  );
}
