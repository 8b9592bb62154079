import styles from './code-block.module.css';
import { CopyButton } from './copy-button.tsx';

/** Code or a credential, with a button that copies it. Long code scrolls, unless `tall` is set. */
export function CodeBlock({ text, what, tall = true }: { text: string; what: string; tall?: boolean }) {
  return (
    <div className={styles.frame} data-tall={tall}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <pre className={styles.code} tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
