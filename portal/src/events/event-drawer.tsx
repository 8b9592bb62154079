import { applicationPath } from '../api/call.ts';
import type { EventWithDeliveries } from '../api/event-types.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Drawer } from '../parts/drawer/drawer.tsx';
import { Facts } from '../parts/facts.tsx';
import { Tag } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/events.tsx';
import { eventName, numberOf, toneOf } from './event-names.ts';
import styles from './events.module.css';
import { EventDeliveries } from './record-events.tsx';
import { RecordLink } from './record-link.tsx';

const refreshMs = 2000;

/** One event: its content, and the webhooks that it was sent to. */
export function EventDrawer({ applicationId, id, back }: { applicationId: string; id: string; back: string }) {
  const path = applicationPath(applicationId, `/events/${encodeURIComponent(id)}`);
  const { data, problem, reload } = useLoad<EventWithDeliveries>(path, refreshMs);
  return (
    <Drawer
      kind={words.drawer.kind}
      id={id}
      back={back}
      problem={problem}
      onRetry={reload}
      notFound={words.drawer.notFound}
    >
      {data !== undefined && (
        <>
          <div className={styles.line}>
            <Tag tone={toneOf(data.type)}>{data.type}</Tag> {eventName(data.type)}
          </div>
          <Facts
            facts={[
              [words.drawer.number, numberOf(data) ?? '–'],
              [words.drawer.time, <Time key="time" at={data.time} />],
              [words.drawer.sequence, data.sequence],
              [words.drawer.reference, data.reference ?? '–'],
            ]}
          />
          <div className={styles.line}>
            {words.drawer.record} <RecordLink applicationId={applicationId} subject={data.subject} />
            <CopyButton text={data.subject} what={words.drawer.recordId} small />
          </div>
          {data.deliveries.length > 0 && (
            <EventDeliveries applicationId={applicationId} eventId={id} deliveries={data.deliveries} />
          )}
          <CodeBlock
            tall={false}
            what={words.row.copy(id)}
            text={JSON.stringify({ ...data, deliveries: undefined }, null, 2)}
          />
        </>
      )}
    </Drawer>
  );
}
