import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { operatorPath, withQuery } from '../../api/call.ts';
import type { CarrierQueue } from '../../api/operator-types.ts';
import type { Page } from '../../api/types.ts';
import { Facts } from '../../parts/facts.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table/table.tsx';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/queue.ts';
import { ageText } from './age-text.ts';

const refreshMs = 5000;
const count = new Intl.NumberFormat();
/** The service stops counting here. */
const mostCounted = 10_000;
const number = (title: string) => ({ title, number: true as const });
const { carrier, ...counted } = words.columns;
const columns = [carrier, ...Object.values(counted).map(number)];

export default function Queue() {
  const { data, problem, reload } = useLoad<Page<CarrierQueue>>(operatorPath('queue'), refreshMs);
  const queues = data?.data ?? [];
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={300} />}
        {data !== undefined && queues.length === 0 && (
          <EmptyState title={words.nothing.title}>{words.nothing.text}</EmptyState>
        )}
        {queues.length > 0 && (
          <>
            <Panel title={words.summary}>
              <Facts facts={factsOf(queues)} />
            </Panel>
            <Panel title={words.table} lead={words.explain}>
              <Table
                label={words.table}
                columns={columns}
                rows={queues.map((queue) => ({ key: queue.carrier, cells: cellsOf(queue) }))}
              />
            </Panel>
          </>
        )}
      </Stack>
    </>
  );
}

function factsOf(queues: CarrierQueue[]): [string, ReactNode][] {
  const { waiting, sending, scheduled, stuck, inDoubt, oldest } = words.facts;
  const sum = (read: (queue: CarrierQueue) => number) => countText(queues.reduce((all, each) => all + read(each), 0));
  const ages = queues.flatMap(({ oldest_seconds }) => oldest_seconds ?? []);
  return [
    [waiting, sum((queue) => queue.waiting)],
    [stuck, sum((queue) => queue.stuck)],
    [inDoubt, sum((queue) => queue.in_doubt)],
    [sending, sum((queue) => queue.sending)],
    [scheduled, sum((queue) => queue.scheduled)],
    [oldest, ages.length === 0 ? '–' : ageText(Math.max(...ages))],
  ];
}

function cellsOf(queue: CarrierQueue): ReactNode[] {
  const { carrier: name, ages } = queue;
  return [
    // The sandbox's own carrier has no page.
    name === 'sandbox' ? (
      name
    ) : (
      <Link key="carrier" href={`/operator/carriers/${name}`}>
        {name}
      </Link>
    ),
    <Deliveries key="stuck" state="stuck" carrier={name} number={queue.stuck} label={words.stuckOf} />,
    <Deliveries key="doubt" state="in_doubt" carrier={name} number={queue.in_doubt} label={words.inDoubtOf} />,
    countText(queue.waiting),
    ...[ages.under_10_seconds, ages.under_1_minute, ages.under_10_minutes, ages.older].map(countText),
    ...[queue.retrying, queue.sending, queue.scheduled].map(countText),
  ];
}

interface DeliveriesProps {
  state: 'stuck' | 'in_doubt';
  carrier: string;
  number: number;
  label: (count: string, carrier: string) => string;
}

/** A count that links to its messages. */
function Deliveries({ state, carrier: name, number: found, label }: DeliveriesProps) {
  if (found === 0) return '0';
  const text = countText(found);
  return (
    <Link href={withQuery('/operator/deliveries', { state, carrier: name })} aria-label={label(text, name)}>
      {text}
    </Link>
  );
}

function countText(found: number): string {
  return found >= mostCounted ? words.orMore(count.format(found)) : count.format(found);
}
