import { Button, NativeSelect, SegmentedControl, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { operatorPath, withQuery } from '../../api/call.ts';
import type { Delivery } from '../../api/operator-types.ts';
import { useFilters } from '../../location.ts';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Steady } from '../../parts/steady.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useList } from '../../session/use-load.ts';
import { words } from '../../words/operator/deliveries.ts';
import { ApplicationLink } from '../application-link.tsx';
import styles from '../operator.module.css';
import { useCarrierNames } from '../use-carrier-names.ts';
import { DeliveryGroups } from './delivery-groups.tsx';

const refreshMs = 5000;
const states = {
  stuck: { label: words.stuck, nothing: words.noneStuck },
  in_doubt: { label: words.inDoubt, nothing: words.noneInDoubt },
};
/** In the order of the table. `why` comes first, because a narrow screen shows only the first columns. */
const columns = [words.why, words.carrier, words.number, words.since, words.next, words.text];

export default function Deliveries() {
  const { values, change } = useFilters({ state: 'stuck', carrier: '' });
  const state = values.state === 'in_doubt' ? 'in_doubt' : 'stuck';
  const { carrier } = values;
  const carriers = useCarrierNames() ?? [];
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack>
        <div className={styles.search}>
          <SegmentedControl
            aria-label={words.state}
            value={state}
            onChange={(chosen) => change({ state: chosen })}
            data={Object.entries(states).map(([value, { label }]) => ({ value: value as keyof typeof states, label }))}
          />
          <NativeSelect
            label={words.carrier}
            data={[{ value: '', label: words.any }, ...new Set([...carriers, ...(carrier === '' ? [] : [carrier])])]}
            value={carrier}
            onChange={(event) => change({ carrier: event.currentTarget.value })}
          />
        </div>
        <Steady height={140}>
          <Stack>
            <DeliveryGroups state={state} carrier={carrier} />
            <DeliveryList state={state} carrier={carrier} />
          </Stack>
        </Steady>
      </Stack>
    </>
  );
}

function DeliveryList({ state, carrier }: { state: keyof typeof states; carrier: string }) {
  const path = withQuery(operatorPath('deliveries'), { state, carrier });
  const { data, problem, reload, showMore } = useList<Delivery>(path, refreshMs);
  const { label, nothing } = states[state];
  return (
    <>
      <ProblemCallout problem={problem} onRetry={reload} />
      {data?.length === 0 && <EmptyState title={words.none}>{nothing}</EmptyState>}
      {data !== undefined && data.length > 0 && (
        <Panel>
          <Table
            label={label}
            columns={columns}
            rows={data.map((delivery) => ({ key: delivery.message_id, cells: cellsOf(delivery) }))}
          />
        </Panel>
      )}
      {showMore && (
        <Button variant="default" onClick={showMore}>
          {words.more}
        </Button>
      )}
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
        <ApplicationLink id={application_id} />
      </div>
    </div>,
  ];
}

function CarrierLink({ name }: { name: string }) {
  // The sandbox's own carrier has no page.
  return name === 'sandbox' ? name : <Link href={`/operator/carriers/${name}`}>{name}</Link>;
}
