import type { InspectedDelivery } from '../api/types.ts';
import { CopyTextButton } from '../parts/copy-button.tsx';
import { HttpStatus, Tag } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { words as allWords } from '../words/webhooks.tsx';
import styles from './attempt-view.module.css';

const words = allWords.attemptView;

type Attempt = InspectedDelivery['attempts'][number];

interface AttemptViewProps {
  /** From 1. */
  number: number;
  url: string;
  /** The body of the request. It is rendered again now, so data that was masked since is masked here. */
  body: string;
  attempt: Attempt;
  open: boolean;
}

/** One attempt: the request, and the beginning of the response. */
export function AttemptView({ number, url, body, attempt, open }: AttemptViewProps) {
  const { time, status_code, milliseconds, error, request_headers, response } = attempt;
  const pretty = indented(body);
  return (
    <details className={styles.attempt} open={open}>
      <summary>
        <strong>{words.title(number)}</strong>
        {status_code === null ? <Tag tone="bad">{words.noResponse}</Tag> : <HttpStatus status={status_code} />}
        <span className={styles.quiet}>{words.took(milliseconds)}</span>
        <span className={styles.quiet}>
          <Time at={time} />
        </span>
      </summary>
      <div className={styles.content}>
        {error !== null && <p className={styles.error}>{error}</p>}
        <Message title={words.request} line={`POST ${url}`} headers={request_headers} body={pretty} />
        <p className={styles.quiet}>{words.signature}</p>
        {response === null ? (
          <p className={styles.quiet}>{status_code === null ? words.nothingCame : words.notKept}</p>
        ) : (
          <Message
            title={words.response}
            line={words.statusLine(status_code)}
            headers={response.headers}
            body={response.body + (response.is_cut ? words.cut : '')}
          />
        )}
        <CopyTextButton text={pretty} label={words.copyBody} />
      </div>
    </details>
  );
}

interface MessageProps {
  title: string;
  line: string;
  headers: { name: string; value: string }[];
  body: string;
}

function Message({ title, line, headers, body }: MessageProps) {
  return (
    <section aria-label={title}>
      <h3 className={styles.label}>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
      <pre className={styles.message} tabIndex={0}>
        <span className={styles.first}>{line}</span>
        {headers.map(({ name, value }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a header may come twice, in this order.
          <span key={`${index} ${name}`}>
            <span className={styles.name}>{name}:</span> {value}
          </span>
        ))}
        <span className={styles.body}>{body}</span>
      </pre>
    </section>
  );
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
