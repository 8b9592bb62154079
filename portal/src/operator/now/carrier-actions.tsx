import { Button } from '@mantine/core';
import { Link } from 'wouter';
import type { NowReport } from '../../api/operator-types.ts';
import { words } from '../../words/operator/now.ts';
import { PauseButton } from '../carriers/pause-button.tsx';
import { MoveTrafficButton } from './move-traffic.tsx';
import styles from './now.module.css';

interface CarrierActionsProps {
  carrier: NowReport['carriers'][number];
  report: NowReport;
  onChange: () => void;
}

/** What an operator can do about a carrier at once. */
export function CarrierActions({ carrier, report, onChange }: CarrierActionsProps) {
  const { name, paused, kind } = carrier;
  if (kind !== 'carrier') return null;
  const carriers = report.carriers.flatMap((each) =>
    each.state === null ? [] : [{ name: each.name, state: each.state, paused: each.paused }],
  );
  return (
    <div className={styles.actions}>
      <PauseButton carrier={{ name, paused }} onChange={onChange} />
      <MoveTrafficButton from={name} paused={paused} carriers={carriers} onDone={onChange} />
      <Button
        component={Link}
        href={`/operator/carriers/${name}?test=open`}
        variant="default"
        size="xs"
        aria-label={words.carriers.testOf(name)}
      >
        {words.carriers.test}
      </Button>
    </div>
  );
}
