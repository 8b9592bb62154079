import { Title } from '@mantine/core';
import { useId } from 'react';
import { Link } from 'wouter';
import { applicationPath, withQuery } from '../api/call.ts';
import type { EventDelivery, EventsPage } from '../api/event-types.ts';
import { Tag } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/events.tsx';
import { toneOf } from './event-names.ts';
import styles from './events.module.css';

const refreshMs = 2000;
/** More than a record can have. */
const limit = 50;

function useRecordEvents(applicationId: string, subject: string): EventsPage['data'] {
  const path = withQuery(applicationPath(applicationId, '/events'), { subject, limit });
  return useLoad<EventsPage>(path, refreshMs).data?.data ?? [];
}

interface RecordEventsProps {
  applicationId: string;
  subject: string;
}

/** The events of one record, and the webhooks that they were sent to. Renders nothing without events. */
export function RecordEvents({ applicationId, subject }: RecordEventsProps) {
  const events = useRecordEvents(applicationId, subject);
  const title = useId();
  if (events.length === 0) return null;
  return (
    <section>
      <Title order={3} id={title}>
        {words.title}
      </Title>
      <ol className={styles.deliveries} aria-labelledby={title}>
        {events.map(({ id, type, time, deliveries }) => (
          <li key={id} className={styles.change}>
            <span className={styles.line}>
              <Tag tone={toneOf(type)}>{type}</Tag>
              <span className={styles.quiet}>
                <Time at={time} />
              </span>
            </span>
            <EventDeliveries applicationId={applicationId} eventId={id} deliveries={deliveries} />
          </li>
        ))}
      </ol>
    </section>
  );
}

interface EventDeliveriesProps {
  applicationId: string;
  eventId: string;
  deliveries: EventDelivery[];
}

/** The webhooks that one event was sent to, each with a link to its attempts. */
export function EventDeliveries({ applicationId, eventId, deliveries }: EventDeliveriesProps) {
  return deliveries.map(({ webhook_id, url, status, attempts }) => (
    <span key={webhook_id} className={styles.delivery}>
      {words.deliveries[status]}{' '}
      <Link href={`/applications/${applicationId}/webhooks/${webhook_id}/${eventId}`}>{url}</Link>{' '}
      {words.deliveries.attempts(attempts)}
    </span>
  ));
}
