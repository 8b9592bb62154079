import { Button, Skeleton, Stack } from '@mantine/core';
import { operatorPath } from '../../api/call.ts';
import type { Alert } from '../../api/operator-types.ts';
import { Callout } from '../../parts/notice/callout.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useList } from '../../session/use-load.ts';
import { words } from '../../words/operator/alerts.tsx';
import { AlertLink } from './alert-link.tsx';

const refreshMs = 5000;
const columns = [words.what, words.from, words.until];

export default function Alerts() {
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <OpenAlerts />
        <ClearedAlerts />
      </Stack>
    </>
  );
}

function OpenAlerts() {
  const { data, problem, reload, showMore } = useList<Alert>(operatorPath('alerts?state=open'), refreshMs);
  return (
    <Stack>
      <ProblemCallout problem={problem} onRetry={reload} />
      {data === undefined && problem === undefined && <Skeleton height={120} />}
      {data?.length === 0 && <EmptyState title={words.none}>{words.noneDetail}</EmptyState>}
      {data?.map((alert) => (
        <Callout key={alert.id} tone="bad" quiet title={alert.summary}>
          {words.since(alert.advice, <Time at={alert.since} />)} <AlertLink alert={alert} />
        </Callout>
      ))}
      {showMore && (
        <Button variant="default" onClick={showMore}>
          {words.more}
        </Button>
      )}
    </Stack>
  );
}

function ClearedAlerts() {
  const { data, problem, reload, showMore } = useList<Alert>(operatorPath('alerts?state=cleared'), refreshMs);
  if (problem !== undefined) return <ProblemCallout problem={problem} onRetry={reload} />;
  if (data === undefined || data.length === 0) return null;
  return (
    <Panel title={words.cleared} lead={words.clearedLead}>
      <Table
        label={words.clearedList}
        columns={columns}
        rows={data.map(({ id, summary, since, cleared_at }) => ({
          key: id,
          cells: [summary, <Time key="since" at={since} />, <Time key="until" at={cleared_at ?? since} />],
        }))}
      />
      {showMore && (
        <Button variant="default" size="xs" mt="sm" onClick={showMore}>
          {words.more}
        </Button>
      )}
    </Panel>
  );
}
