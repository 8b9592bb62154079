import { Button, Skeleton, Stack } from '@mantine/core';
import { operatorPath } from '../../api/call.ts';
import type { AlertRecord } from '../../api/operator-types.ts';
import { useList } from '../../api/use-load.ts';
import { Callout } from '../../parts/callout.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

const refreshMs = 5000;
const columns = ['What', 'From', 'Until'];

export default function Alerts() {
  const { data, problem, reload, showMore } = useList<AlertRecord>(operatorPath('alerts'), refreshMs);
  const open = data?.filter(({ cleared_at }) => cleared_at === null) ?? [];
  const over = data?.filter(({ cleared_at }) => cleared_at !== null) ?? [];
  return (
    <>
      <PageTitle lead="What needs you now. With HELIOGRAPH_ALERT_URL the service also tells another system.">
        Alerts
      </PageTitle>
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={120} />}
        {data !== undefined && open.length === 0 && <EmptyState title="All is well">No alert is raised.</EmptyState>}
        {open.map((alert) => (
          <Callout key={alert.id} tone="bad" quiet title={alert.summary}>
            {alert.advice} Since <Time at={alert.since} />.
          </Callout>
        ))}
        {over.length > 0 && (
          <Panel title="Before">
            <Table
              label="Alerts that are over"
              columns={columns}
              rows={over.map(({ id, summary, since, cleared_at }) => ({
                key: id,
                cells: [summary, <Time key="since" at={since} />, <Time key="until" at={cleared_at ?? since} />],
              }))}
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
