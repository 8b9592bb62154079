import { Button, Group } from '@mantine/core';
import { useEffect } from 'react';
import { applicationPath } from '../api/call.ts';
import type { VerificationDetail } from '../api/record-types.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Callout } from '../parts/notice/callout.tsx';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/try.tsx';
import styles from './try-it.module.css';
import type { Outcome } from './verify-state.ts';

interface InboundCardProps {
  applicationId: string;
  outcome: Outcome;
  onEnded: (record: VerificationDetail) => void;
  /** Writes the text into the handset; left out where there is none. */
  onHandset?: (() => void) | undefined;
}

const refreshMs = 2000;

/** What the person has to text, and whether it has arrived. */
export function InboundCard({ applicationId, outcome, onEnded, onHandset }: InboundCardProps) {
  const { id, inbound, status, reason } = outcome;
  if (status === 'approved') return <Callout tone="good" title={words.check.approved} />;
  if (status !== 'pending') return <Callout tone="bad" title={words.check.ended(status, reason)} />;
  return (
    <div className={styles.check}>
      <p className={styles.ask}>{words.inbound.ask}</p>
      {inbound !== undefined && (
        <dl className={styles.request}>
          <Line name={words.inbound.text} value={inbound.text} />
          <Line name={words.inbound.number} value={inbound.number} />
        </dl>
      )}
      <Group>
        {onHandset !== undefined && (
          <Button variant="light" onClick={onHandset}>
            {words.inbound.write}
          </Button>
        )}
        <Waiting applicationId={applicationId} id={id} onEnded={onEnded} />
      </Group>
    </div>
  );
}

function Line({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <code>{value}</code>
        <CopyButton text={value} what={name} small />
      </dd>
    </div>
  );
}

/** Polls until the text has arrived, or the verification has ended. */
function Waiting({ applicationId, id, onEnded }: Pick<InboundCardProps, 'applicationId' | 'onEnded'> & { id: string }) {
  const { data } = useLoad<VerificationDetail>(
    applicationPath(applicationId, `/verifications/${encodeURIComponent(id)}`),
    refreshMs,
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the record alone says that it has ended.
  useEffect(() => {
    if (data?.id === id && data.status !== 'pending') onEnded(data);
  }, [data, id]);
  return <span className={styles.waiting}>{words.inbound.waiting}</span>;
}
