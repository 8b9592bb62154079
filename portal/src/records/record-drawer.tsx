import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { MessageDetail, TimelineEntry } from '../api/record-types.ts';
import { RecordEvents } from '../events/record-events.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Drawer } from '../parts/drawer/drawer.tsx';
import { Status } from '../parts/status.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { type Loaded, useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/records.tsx';
import styles from './records.module.css';
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
  kind: string;
  id: string;
  path: string;
  applicationId: string;
  /** The page to show after closing. */
  back: string;
  children: (item: Item) => ReactNode;
}

const refreshMs = 2000;

/** A message or a verification, refreshed. */
export function RecordDrawer<Item extends Detail>(props: RecordDrawerProps<Item>) {
  const { kind, id, path, applicationId, back, children } = props;
  const { data, problem, reload }: Loaded<Item> = useLoad<Item>(path, refreshMs);
  return (
    <Drawer kind={kind} id={id} back={back} problem={problem} onRetry={reload}>
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
            <span className={styles.origin}>
              {words.createdBy}{' '}
              <Link href={`/applications/${applicationId}/requests/${data.correlation_id}`}>
                <code>{data.correlation_id}</code>
              </Link>
              <CopyButton text={data.correlation_id} what={words.correlationId} small />
            </span>
          )}
        </>
      )}
    </Drawer>
  );
}
