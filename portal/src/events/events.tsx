import { Button, Skeleton, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { applicationPath, call } from '../api/call.ts';
import { useFilters } from '../location.ts';
import { Rows } from '../parts/list/record-list.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { Tag } from '../parts/status.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { useCanChange } from '../session/role.ts';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/events.tsx';
import { EventDrawer } from './event-drawer.tsx';
import { EventFilter, matches, noFilter } from './event-filter.tsx';
import { EventRow } from './event-row.tsx';
import { ListenLine } from './listen-line.tsx';
import { useEvents } from './use-events.ts';

/** Every change of an application's records, as it happens. */
export default function Events({ application, record }: TabProps) {
  const { values: filter, change, query } = useFilters(noFilter);
  const here = `/applications/${application.id}/events`;
  const { events, listening, live, onlyNew, problem, reload } = useEvents(application.id);
  const shown = events?.filter((event) => matches(filter, event));
  return (
    <Stack gap="lg">
      <Panel
        title={words.title}
        lead={words.lead}
        actions={listening && <Tag tone={live ? 'good' : 'wait'}>{live ? words.live : words.connecting}</Tag>}
      >
        <Stack>
          <ProblemCallout problem={problem} onRetry={reload} />
          {events === undefined && problem === undefined && <Skeleton height={160} />}
          {!listening && <StartListening applicationId={application.id} onStarted={reload} />}
          {onlyNew && <Callout tone="calm">{words.tooMany}</Callout>}
          {listening && events?.length === 0 && (
            <EmptyState
              title={words.empty.title}
              action={
                <Button component={Link} href={`/applications/${application.id}/try`}>
                  {words.empty.send}
                </Button>
              }
            >
              {words.empty.next(application.id)}
            </EmptyState>
          )}
          {events !== undefined && events.length > 0 && (
            <>
              <EventFilter filter={filter} onChange={change} />
              {shown?.length === 0 ? (
                <EmptyState title={words.noMatch.title}>{words.noMatch.next}</EmptyState>
              ) : (
                <Rows
                  label={words.title}
                  columns={words.columns}
                  firstWidth="190px"
                  items={shown ?? []}
                  hrefOf={({ id }) => `${here}/${id}${query}`}
                  idOf={({ id }) => id}
                  opened={record}
                  renderItem={(event) => <EventRow event={event} />}
                />
              )}
            </>
          )}
        </Stack>
        {record !== undefined && <EventDrawer applicationId={application.id} id={record} back={`${here}${query}`} />}
      </Panel>
      {listening && events?.length === 0 && <ListenLine applicationId={application.id} />}
    </Stack>
  );
}

/** In production, opening this page must cost nothing, so the developer turns events on. */
function StartListening({ applicationId, onStarted }: { applicationId: string; onStarted: () => void }) {
  const canChange = useCanChange();
  const { run, busy, problem } = useAction(async () => {
    await call('POST', applicationPath(applicationId, '/events/listening'));
    onStarted();
  });
  return (
    <EmptyState
      title={words.off.title}
      action={
        canChange && (
          <Button loading={busy} onClick={() => run()}>
            {words.off.start}
          </Button>
        )
      }
    >
      {words.off.next(applicationId)}
      <ProblemCallout problem={problem} />
    </EmptyState>
  );
}
