import styles from './method.module.css';

const short: Record<string, string> = { DELETE: 'DEL' };

/** The method of an operation: a word and a colour, never the colour alone. */
export function Method({ method, small = false }: { method: string; small?: boolean }) {
  return (
    <span className={styles.method} data-method={method} data-small={small || undefined}>
      {small && short[method] !== undefined ? <abbr title={method}>{short[method]}</abbr> : method}
    </span>
  );
}
