import { apiTitle } from '../api/apis.ts';
import { applicationPath } from '../api/call.ts';
import type { MessageDetail } from '../api/record-types.ts';
import { Facts } from '../parts/facts.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { Time } from '../parts/time.tsx';
import { words as allWords } from '../words/records.tsx';
import { RecordDrawer } from './record-drawer.tsx';
import styles from './records.module.css';
import { Waiting } from './waiting.tsx';

const words = allWords.message;

export function MessageDrawer({ applicationId, id, back }: { applicationId: string; id: string; back: string }) {
  return (
    <RecordDrawer<MessageDetail>
      kind={words.kind}
      id={id}
      path={applicationPath(applicationId, `/messages/${encodeURIComponent(id)}`)}
      applicationId={applicationId}
      back={back}
    >
      {(message) => (
        <>
          <blockquote className={styles.quote}>{message.message ?? words.removed}</blockquote>
          <Waiting reason={message.waiting} />
          {message.error !== null && (
            <Callout tone="bad" title={message.error.message}>
              <code>{message.error.code}</code>
              {message.error.permanent ? words.permanent : words.temporary}
            </Callout>
          )}
          <Facts
            facts={[
              [words.to, message.to],
              [words.api, apiTitle(message.api)],
              [words.from, message.from],
              [words.segments, `${message.segments.count} · ${message.segments.encoding}`],
              [words.characters, message.segments.characters],
              [words.reference, message.reference ?? '–'],
              [words.attempts, message.attempts],
              [words.duplicates, message.possible_duplicates],
              [words.expires, <Time key="expires" at={message.expires_at} />],
            ]}
          />
        </>
      )}
    </RecordDrawer>
  );
}
