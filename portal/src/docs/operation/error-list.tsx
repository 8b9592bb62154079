import { HttpStatus, Tag } from '../../parts/status.tsx';
import { words } from '../../words/docs.tsx';
import type { ErrorEntry } from '../model/operations.ts';
import { Prose } from '../prose.tsx';
import type { ShownAnswer } from './answer-card.tsx';
import styles from './error-list.module.css';

interface ErrorListProps {
  errors: ErrorEntry[];
  show: (shown: ShownAnswer) => void;
}

/** The errors of the call, and when they occur. Each has an address of its own, like `#error-INVALID_ARGUMENT`. */
export function ErrorList({ errors, show }: ErrorListProps) {
  return (
    <ul className={styles.errors}>
      {errors.map(({ status, code, when }) => (
        <li key={`${status} ${code}`} id={`error-${code}`} className={styles.error}>
          <div className={styles.status}>
            {status === 'other' ? <Tag>{words.response.other}</Tag> : <HttpStatus status={Number(status)} />}
          </div>
          <div className={styles.about}>
            <a
              href={`#error-${code}`}
              className={styles.code}
              onClick={() => show({ status: status === 'other' ? 'default' : status, code })}
            >
              <code>{code}</code>
            </a>
            <p>
              <Prose text={when} />
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}
