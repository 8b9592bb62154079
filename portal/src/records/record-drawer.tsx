import { Drawer, Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { TimelineEntry } from '../api/record-types.ts';
import { type Loaded, useLoad } from '../api/use-load.ts';
import { Note } from '../parts/note.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Status } from '../parts/status.tsx';
import { Story } from '../parts/story.tsx';

interface Detail {
  id: string;
  status: string;
  correlation_id: string | null;
  timeline: TimelineEntry[];
}

interface RecordDrawerProps<Item> {
  title: string;
  path: string;
  applicationId: string;
  /** Where closing leads. */
  back: string;
  children: (item: Item) => ReactNode;
}

const refreshMs = 2000;

/** A record beside its list, kept up to date. */
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
        {problem?.status === 404 && <Note tone="bad" title="There is no such record in this application." />}
        {problem !== undefined && problem.status !== 404 && <ProblemNote problem={problem} onRetry={reload} />}
        {data === undefined && problem === undefined && <Skeleton height={260} />}
        {data !== undefined && (
          <>
            <div>
              <Status state={data.status} /> <code>{data.id}</code>
            </div>
            {children(data)}
            <Story entries={data.timeline} />
            {data.correlation_id !== null && (
              <span>
                Made by the request{' '}
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
