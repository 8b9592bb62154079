import { useState } from 'react';
import type { AppEvent } from '../api/event-types.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { Tag } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { words } from '../words/events.tsx';
import { eventName, toneOf } from './event-names.ts';
import styles from './events.module.css';
import { EventDeliveries } from './record-events.tsx';
import { RecordLink } from './record-link.tsx';

/** One event. Opened, it shows its content and the webhooks that it was sent to. */
export function EventRow({ event }: { event: AppEvent }) {
  const [open, setOpen] = useState(false);
  const { id, type, time, subject, sequence, application_id } = event;
  return (
    <details className={styles.event} onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
      <summary>
        <Tag tone={toneOf(type)}>{type}</Tag>
        <span className={styles.name}>{eventName(type)}</span>
        <span className={styles.quiet}>
          <Time at={time} />
        </span>
      </summary>
      <div className={styles.story}>
        <div className={styles.line}>
          <RecordLink applicationId={application_id} subject={subject} />
          <span className={styles.quiet}>{words.row.numbers(sequence, id)}</span>
        </div>
        {open && (
          <>
            <EventDeliveries applicationId={application_id} subject={subject} eventId={id} />
            <CodeBlock tall={false} what={words.row.copy(id)} text={JSON.stringify(event, null, 2)} />
          </>
        )}
      </div>
    </details>
  );
}
