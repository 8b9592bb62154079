import { applicationPath } from '../api/call.ts';
import type { MessageDetail } from '../api/record-types.ts';
import { Facts } from '../parts/facts.tsx';
import { Note } from '../parts/note.tsx';
import { Time } from '../parts/time.tsx';
import { RecordDrawer } from './record-drawer.tsx';
import styles from './records.module.css';

export function MessageDrawer({ applicationId, id, back }: { applicationId: string; id: string; back: string }) {
  return (
    <RecordDrawer<MessageDetail>
      title="Message"
      path={applicationPath(applicationId, `/messages/${encodeURIComponent(id)}`)}
      applicationId={applicationId}
      back={back}
    >
      {(message) => (
        <>
          <blockquote className={styles.quote}>{message.message ?? 'The text is masked: its time is over.'}</blockquote>
          {message.error !== null && (
            <Note tone="bad" title={message.error.message}>
              <code>{message.error.code}</code>
              {message.error.permanent ? ', for good: sending it again will not help' : ', for now'}
            </Note>
          )}
          <Facts
            facts={[
              ['To', message.to],
              ['From', message.from],
              ['Segments', `${message.segments.count} · ${message.segments.encoding}`],
              ['Characters', message.segments.characters],
              ['Reference', message.reference ?? '–'],
              ['Attempts', message.attempts],
              ['Possible duplicates', message.possible_duplicates],
              ['Expires', <Time key="expires" at={message.expires_at} />],
            ]}
          />
        </>
      )}
    </RecordDrawer>
  );
}
