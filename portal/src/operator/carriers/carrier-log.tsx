import { Button, Skeleton } from '@mantine/core';
import { operatorPath } from '../../api/call.ts';
import type { Carrier, CarrierLogEntry } from '../../api/operator-types.ts';
import type { Page } from '../../api/types.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/carriers.ts';
import styles from '../operator.module.css';

const refreshMs = 10_000;
const columns = [
  words.log.time,
  words.log.direction,
  words.log.command,
  words.log.status,
  words.log.sequence,
  words.log.number,
  words.log.ourId,
  'Carrier’s id',
];

/** The latest exchanges with the carrier, without texts, secrets and numbers. */
export function CarrierLog({ carrier: { name, kind } }: { carrier: Carrier }) {
  const { data, problem, reload } = useLoad<Page<CarrierLogEntry>>(operatorPath(`carriers/${name}/log`), refreshMs);
  return (
    <Panel
      title={words.log.title}
      lead={words.log.lead}
      actions={
        <Button variant="default" size="sm" leftSection={<Icon name="refresh" size={16} />} onClick={reload}>
          {words.log.refresh}
        </Button>
      }
    >
      <ProblemCallout problem={problem} onRetry={reload} />
      {data === undefined && problem === undefined && <Skeleton height={140} />}
      {data?.data.length === 0 && <p>{words.log.none}</p>}
      {data !== undefined && data.data.length > 0 && (
        <Table
          tall
          label={words.log.title}
          columns={columns}
          rows={data.data.map((entry, index) => ({ key: `${entry.at} ${index}`, cells: cellsOf(entry, kind) }))}
        />
      )}
    </Panel>
  );
}

function cellsOf(entry: CarrierLogEntry, kind: string) {
  const { at, direction, command, status, sequence, number_ends, message_id, carrier_message_id, reported, meaning } =
    entry;
  return [
    <Time key="at" at={at} />,
    direction === 'out' ? words.log.out : words.log.in,
    <code key="command">{command}</code>,
    <StatusText
      key="status"
      text={reported ?? (kind === 'http' ? httpStatus(status) : smppStatus(status))}
      meaning={meaning}
    />,
    sequence,
    number_ends === null ? '–' : `…${number_ends}`,
    <code key="ours">{message_id ?? '–'}</code>,
    <code key="theirs">{carrier_message_id ?? '–'}</code>,
  ];
}

function StatusText({ text, meaning }: { text: string; meaning: string | null }) {
  return (
    <>
      {text}
      {meaning !== null && <div className={styles.quiet}>{meaning}</div>}
    </>
  );
}

function smppStatus(status: number): string {
  return status === 0 ? 'ok' : `0x${status.toString(16).padStart(8, '0')}`;
}

function httpStatus(status: number): string {
  return status === 0 ? words.log.noAnswer : String(status);
}
