import { Drawer, Skeleton, Stack } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import type { MessageDetail, TimelineEntry } from '../api/record-types.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Status } from '../parts/status.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { type Loaded, useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/records.tsx';
import { Submits } from './submits.tsx';

const words = allWords.record;

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

/** The state of a history entry that a list opened. */
export const fromList = 'from-list';

/** Shows a record beside its list and refreshes it. */
export function RecordDrawer<Item extends Detail>(props: RecordDrawerProps<Item>) {
  const { title, path, applicationId, back, children } = props;
  const [, navigate] = useLocation();
  const { data, problem, reload }: Loaded<Item> = useLoad<Item>(path, refreshMs);
  useEffect(() => {
    const opener = document.activeElement;
    return () => returnFocus(opener);
  }, []);

  /** Goes back in the history to the list: with a new entry, the browser's Back would open the record again. */
  function close(): void {
    if (history.state === fromList) history.back();
    else navigate(back, { replace: true });
  }

  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size="lg"
      title={title}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <Stack gap="lg">
        {problem?.status === 404 && (
          <Callout tone="bad" title={words.notFound.title}>
            {words.notFound.next}
          </Callout>
        )}
        {problem !== undefined && problem.status !== 404 && <ProblemCallout problem={problem} onRetry={reload} />}
        {data === undefined && problem === undefined && <Skeleton height={260} />}
        {data !== undefined && (
          <>
            <div>
              <Status state={data.status} />
            </div>
            {children(data)}
            <Timeline entries={data.timeline} />
            <Submits submits={data.submits} />
            <RecordEvents applicationId={applicationId} subject={data.id} />
            {data.correlation_id !== null && (
              <span>
                {words.createdBy}{' '}
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

/** Focuses the record's row in the list, or the tab if the page opened with the record. */
function returnFocus(opener: Element | null): void {
  const isThere = opener !== document.body && opener?.isConnected === true;
  const target = isThere ? opener : document.querySelector('[role="tab"][aria-selected="true"]');
  // The drawer releases the focus only after this.
  if (target instanceof HTMLElement) setTimeout(() => target.focus({ preventScroll: true }));
}
