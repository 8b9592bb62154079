import { Button, NativeSelect, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { operatorPath, withQuery } from '../../api/call.ts';
import type { Delivery } from '../../api/operator-types.ts';
import { useList } from '../../api/use-load.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import styles from '../operator.module.css';
import { useCarrierNames } from '../use-carrier-names.ts';

const refreshMs = 5000;
const states = {
  stuck: { label: 'Stuck', nothing: 'No text has waited for more than a minute.' },
  in_doubt: { label: 'In doubt', nothing: 'Carriers have answered for every text.' },
};
/** What to do comes first, where a phone shows it. */
const columns = ['Why, and what to do', 'Carrier', 'Number', 'Since', 'Next try', 'Text'];

export default function Deliveries() {
  const [state, setState] = useState<keyof typeof states>('stuck');
  const [carrier, setCarrier] = useState('');
  const carriers = useCarrierNames() ?? [];
  const path = withQuery(operatorPath('deliveries'), { state, carrier });
  const { data, problem, reload, showMore } = useList<Delivery>(path, refreshMs);
  return (
    <>
      <PageTitle lead="Texts that wait for longer than a minute, or may have been sent without an answer.">
        Deliveries
      </PageTitle>
      <Stack>
        <div className={styles.search}>
          <SegmentedControl
            aria-label="State"
            value={state}
            onChange={setState}
            data={Object.entries(states).map(([value, { label }]) => ({ value: value as keyof typeof states, label }))}
          />
          <NativeSelect
            label="Carrier"
            data={[{ value: '', label: 'Any' }, ...carriers]}
            value={carrier}
            onChange={(event) => setCarrier(event.currentTarget.value)}
          />
        </div>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={140} />}
        {data?.length === 0 && <EmptyState title="Nothing to do">{states[state].nothing}</EmptyState>}
        {data !== undefined && data.length > 0 && (
          <Panel>
            <Table
              label={states[state].label}
              columns={columns}
              rows={data.map((delivery) => ({ key: delivery.message_id, cells: cellsOf(delivery) }))}
            />
          </Panel>
        )}
        {showMore && (
          <Button variant="default" onClick={showMore}>
            Show more
          </Button>
        )}
      </Stack>
    </>
  );
}

function cellsOf({ message_id, application_id, number_ends, carrier, since, due, reason, advice }: Delivery) {
  return [
    <div key="why" className={styles.why}>
      {reason} <strong>{advice}</strong>
    </div>,
    <CarrierLink key="carrier" name={carrier} />,
    `…${number_ends}`,
    <Time key="since" at={since} />,
    due === null ? '–' : <Time key="due" at={due} />,
    <div key="ids">
      <code>{message_id}</code>
      <div className={styles.quiet}>
        <code>{application_id}</code>
      </div>
    </div>,
  ];
}

function CarrierLink({ name }: { name: string }) {
  // The sandbox's own carrier has no page.
  return name === 'sandbox' ? name : <Link href={`/operator/carriers/${name}`}>{name}</Link>;
}
