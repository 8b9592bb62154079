import { Button, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { applicationPath, call } from '../api/call.ts';
import { useAction } from '../api/use-action.ts';
import type { TabProps } from '../applications/application-page.tsx';
import { Callout } from '../parts/callout.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { Tag } from '../parts/status.tsx';
import { EventFilter, type Filter, matches, noFilter } from './event-filter.tsx';
import { EventRow } from './event-row.tsx';
import styles from './events.module.css';
import { useEvents } from './use-events.ts';

/** Every change of an application's records, as it happens. */
export default function Events({ application }: TabProps) {
  const [filter, setFilter] = useState<Filter>(noFilter);
  const { events, listening, live, onlyNew, problem, reload } = useEvents(application.id);
  const shown = events?.filter((event) => matches(filter, event));
  return (
    <Panel
      title="Events"
      lead="Every change of your texts and verifications, newest first."
      actions={listening && <Tag tone={live ? 'good' : 'wait'}>{live ? 'Live' : 'Connecting'}</Tag>}
    >
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {events === undefined && problem === undefined && <Skeleton height={160} />}
        {!listening && <StartListening applicationId={application.id} onStarted={reload} />}
        {onlyNew && (
          <Callout tone="calm">
            There are too many earlier events to list. You see what happens from now on. The page of each message and
            verification shows all of its events.
          </Callout>
        )}
        {listening && events?.length === 0 && (
          <EmptyState
            title="No events yet"
            action={
              <Button component={Link} href={`/applications/${application.id}/try`}>
                Send a text
              </Button>
            }
          >
            Events appear here while they happen. To get them on your server, add a{' '}
            <Link href={`/applications/${application.id}/webhooks`}>webhook</Link>.
          </EmptyState>
        )}
        {events !== undefined && events.length > 0 && (
          <>
            <EventFilter filter={filter} onChange={setFilter} />
            {shown?.length === 0 ? (
              <EmptyState title="No matching events">Change the filter to see the others.</EmptyState>
            ) : (
              <ul className={styles.list} aria-label="Events">
                {shown?.map((event) => (
                  <li key={event.id}>
                    <EventRow event={event} />
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </Stack>
    </Panel>
  );
}

/** In production a look at this page must cost nothing, so the developer decides. */
function StartListening({ applicationId, onStarted }: { applicationId: string; onStarted: () => void }) {
  const { run, busy, problem } = useAction(async () => {
    await call('POST', applicationPath(applicationId, '/events/listening'));
    onStarted();
  });
  return (
    <EmptyState
      title="No events are written yet"
      action={
        <Button loading={busy} onClick={() => run()}>
          Start listening
        </Button>
      }
    >
      Events are written for applications that listen. Yours will listen for 7 days, and longer if it has a{' '}
      <Link href={`/applications/${applicationId}/webhooks`}>webhook</Link> or reads the feed.
      <ProblemCallout problem={problem} />
    </EmptyState>
  );
}
