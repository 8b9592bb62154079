import { Drawer, Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { MessageDetail, TimelineEntry } from '../api/record-types.ts';
import { type Loaded, useLoad } from '../api/use-load.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { Callout } from '../parts/callout.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { Status } from '../parts/status.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { Submits } from './submits.tsx';

interface Detail {
  id: string;
  status: string;
  correlation_id: string | null;
  timeline: TimelineEntry[];
  submits: MessageDetail['submits'];
}

interface RecordDrawerProps<Item> {
  title: string;
  path: string;
  applicationId: string;
  /** The page to show after closing. */
  back: string;
  children: (item: Item) => ReactNode;
}

const refreshMs = 2000;

/** Shows a record beside its list and refreshes it. */
export function RecordDrawer<Item extends Detail>(props: RecordDrawerProps<Item>) {
  const { title, path, applicationId, back, children } = props;
  const [, navigate] = useLocation();
  const { data, problem, reload }: Loaded<Item> = useLoad<Item>(path, refreshMs);
  return (
    <Drawer
      opened
      onClose={() => navigate(back)}
      position="right"
      size="lg"
      title={title}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="lg">
        {problem?.status === 404 && <Callout tone="bad" title="This application has no such record." />}
        {problem !== undefined && problem.status !== 404 && <ProblemCallout problem={problem} onRetry={reload} />}
        {data === undefined && problem === undefined && <Skeleton height={260} />}
        {data !== undefined && (
          <>
            <div>
              <Status state={data.status} /> <code>{data.id}</code>
            </div>
            {children(data)}
            <Timeline entries={data.timeline} />
            <Submits submits={data.submits} />
            <RecordEvents applicationId={applicationId} subject={data.id} />
            {data.correlation_id !== null && (
              <span>
                Created by request{' '}
                <Link href={`/applications/${applicationId}/requests/${data.correlation_id}`}>
                  <code>{data.correlation_id}</code>
                </Link>
              </span>
            )}
          </>
        )}
      </Stack>
    </Drawer>
  );
}
