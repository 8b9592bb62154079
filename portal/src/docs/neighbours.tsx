import { Link } from 'wouter';
import { words } from '../words/docs.tsx';
import styles from './neighbours.module.css';

interface Neighbour {
  href: string;
  title: string;
}

/** Links to the previous and the next page. */
export function Neighbours({ previous, next }: { previous: Neighbour | undefined; next: Neighbour | undefined }) {
  return (
    <nav className={styles.neighbours} aria-label={words.neighbours.label}>
      {previous !== undefined && (
        <Link href={previous.href} rel="prev" className={styles.link ?? ''}>
          <small>{words.neighbours.previous}</small>
          {previous.title}
        </Link>
      )}
      {next !== undefined && (
        <Link href={next.href} rel="next" className={styles.link ?? ''}>
          <small>{words.neighbours.next}</small>
          {next.title}
        </Link>
      )}
    </nav>
  );
}
