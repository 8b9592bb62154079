import { Button } from '@mantine/core';
import { call } from '../api/call.ts';
import type { InspectedDelivery } from '../api/types.ts';
import { RecordLink } from '../events/record-link.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Drawer } from '../parts/drawer/drawer.tsx';
import { Facts } from '../parts/facts.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useToast } from '../parts/notice/toast.tsx';
import { Status } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import { useCanChange } from '../session/role.ts';
import { useAction } from '../session/use-action.ts';
import { useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/webhooks.tsx';
import { AttemptView } from './attempt-view.tsx';
import styles from './webhooks.module.css';

const words = allWords.delivery;
const refreshMs = 2000;

interface DeliveryDrawerProps {
  applicationId: string;
  /** The webhook's path in the API. */
  path: string;
  eventId: string;
  back: string;
  onReplay: () => void;
}

/** One event for one webhook: for each attempt what was sent and what came back. */
export function DeliveryDrawer({ applicationId, path, eventId, back, onReplay }: DeliveryDrawerProps) {
  const deliveryPath = `${path}/deliveries/${encodeURIComponent(eventId)}`;
  const { data, problem, reload } = useLoad<InspectedDelivery>(deliveryPath, refreshMs);
  return (
    <Drawer kind={words.kind} id={eventId} back={back} problem={problem} onRetry={reload} notFound={words.notFound}>
      {data !== undefined && (
        <>
          <div className={styles.line}>
            <Status state={data.status} />
            <strong className={styles.type}>{data.type}</strong>
            <Resend
              type={data.type}
              path={deliveryPath}
              onDone={() => {
                reload();
                onReplay();
              }}
            />
          </div>
          <Facts
            facts={[
              [words.number, data.to ?? '–'],
              [words.time, <Time key="time" at={data.time} />],
              [words.sequence, data.sequence],
              ...(data.next_attempt_at === null
                ? []
                : [[words.next, <Time key="next" at={data.next_attempt_at} />] satisfies [string, React.ReactNode]]),
            ]}
          />
          <div className={styles.record}>
            {words.record} <RecordLink applicationId={applicationId} subject={data.subject} />
            <CopyButton text={data.subject} what={words.recordId} small />
          </div>
          {data.attempts.toReversed().map((attempt, index) => (
            <AttemptView
              key={attempt.time}
              number={data.attempts.length - index}
              url={data.url}
              body={data.request_body}
              attempt={attempt}
              open={index === 0}
            />
          ))}
        </>
      )}
    </Drawer>
  );
}

function Resend({ type, path, onDone }: { type: string; path: string; onDone: () => void }) {
  const showToast = useToast();
  const canChange = useCanChange();
  const { run, busy, problem } = useAction(async () => {
    await call('POST', `${path}/replay`);
    showToast(words.replayed);
    onDone();
  });
  if (!canChange) return null;
  return (
    <>
      <Button size="xs" variant="default" loading={busy} onClick={() => run()} aria-label={words.replayType(type)}>
        {words.replay}
      </Button>
      <ProblemCallout problem={problem} />
    </>
  );
}
