import { Link } from 'wouter';
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
      {errors.map(({ status, code, when }) => {
        const name = code || status;
        return (
          <li key={`${status} ${code}`} id={`error-${name}`} className={styles.error}>
            <div className={styles.status}>
              {status === 'other' ? <Tag>{words.response.other}</Tag> : <HttpStatus status={Number(status)} />}
            </div>
            <div className={styles.about}>
              <a
                href={`#error-${name}`}
                className={styles.code}
                onClick={() => show({ status: status === 'other' ? 'default' : status, code: code || undefined })}
              >
                {code === '' ? words.errors.noCode : <code>{code}</code>}
              </a>
              <p>
                <Prose text={when} />{' '}
                <Link href={`/docs/errors/${name}`} aria-label={words.errors.moreAbout(name)}>
                  {words.errors.more}
                </Link>
              </p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}
