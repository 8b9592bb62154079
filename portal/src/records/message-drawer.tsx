import { applicationPath } from '../api/call.ts';
import type { MessageDetail } from '../api/record-types.ts';
import { Callout } from '../parts/callout.tsx';
import { Facts } from '../parts/facts.tsx';
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
          <blockquote className={styles.quote}>
            {message.message ?? 'The text was removed after the retention time.'}
          </blockquote>
          {message.error !== null && (
            <Callout tone="bad" title={message.error.message}>
              <code>{message.error.code}</code>
              {message.error.permanent
                ? ': permanent error, do not send it again'
                : ': temporary error, you can send it again'}
            </Callout>
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
