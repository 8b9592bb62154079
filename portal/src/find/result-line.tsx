import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import type { ResultEntry } from './result-entries.ts';
import styles from './result-line.module.css';

/** The content of one result, in the dialog and on the page. */
export function ResultLine({ entry: { kind, title, isCode, about, status, at } }: { entry: ResultEntry }) {
  return (
    <>
      <span className={styles.kind}>{kind}</span>
      <span className={styles.text}>
        <span className={styles.title} data-code={isCode || undefined}>
          {title}
        </span>
        {about !== '' && <span className={styles.about}>{about}</span>}
      </span>
      <span className={styles.side}>
        {status !== undefined && <Status state={status} />}
        {at !== undefined && <Time at={at} />}
      </span>
    </>
  );
}
