import type { Message, MessageBatch } from '../api/record-types.ts';
import { Quiet, RowNumber, RowText } from '../parts/list/record-list.tsx';
import { Status, Tag } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { words as allWords } from '../words/records.tsx';
import styles from './records.module.css';

const words = allWords.batch;

/** The heading of the messages that one request sent together: how many there are in each status. */
export function BatchRow({ batch, messages }: { batch: MessageBatch | undefined; messages: Message[] }) {
  const [first] = messages;
  if (batch === undefined || first === undefined) return null;
  const { size, statuses } = batch;
  return (
    <>
      <Tag tone="calm">{words.title}</Tag>
      <RowNumber>{words.messages(size)}</RowNumber>
      <RowText>
        <span className={styles.counts}>
          {statuses.map(({ status, count }) => (
            <span key={status}>
              {count} <Status state={status} />
            </span>
          ))}
          {messages.length < size && <Quiet>{words.onPage(messages.length)}</Quiet>}
        </span>
      </RowText>
      <Quiet>
        <Time at={first.created_at} />
      </Quiet>
    </>
  );
}
