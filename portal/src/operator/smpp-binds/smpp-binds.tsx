import { Button, Skeleton, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { call, operatorPath } from '../../api/call.ts';
import type { OperatorSmppBind } from '../../api/operator-types.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { EmptyState } from '../../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Tag } from '../../parts/status.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useList } from '../../session/use-load.ts';
import { words } from '../../words/operator/smpp-binds.ts';

const refreshMs = 5000;
const { columns } = words;
const number = (title: string) => ({ title, number: true }) as const;

/** The programs that are bound by SMPP now, on all nodes. */
export default function SmppBinds() {
  const path = operatorPath('smpp-binds');
  const showToast = useToast();
  const { data, problem, reload, showMore } = useList<OperatorSmppBind>(path, refreshMs);

  const end = (bind: OperatorSmppBind) => (
    <ConfirmButton
      key="end"
      label={words.end}
      about={words.about(bind.system_id)}
      question={words.question}
      act={async () => {
        await call('POST', `${path}/${bind.id}/end`);
        showToast(words.ended);
        reload();
      }}
    >
      {words.detail}
    </ConfirmButton>
  );

  const cellsOf = (bind: OperatorSmppBind) => [
    <Link key="application" href={`/operator/limits/${bind.application_id}`}>
      {bind.application_name}
    </Link>,
    <code key="account">{bind.system_id}</code>,
    bind.mode,
    <span key="address">
      {bind.address} {bind.tls && <Tag tone="calm">{words.withTls}</Tag>}
    </span>,
    <Time key="since" at={bind.bound_at} />,
    bind.per_minute,
    bind.submits,
    bind.throttled,
    bind.refused,
    end(bind),
  ];

  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={320} />}
        {data?.length === 0 && <EmptyState title={words.none}>{words.noneNext}</EmptyState>}
        {data !== undefined && data.length > 0 && (
          <Panel>
            <Table
              label={words.table}
              columns={[
                ...[columns.application, columns.account, columns.mode, columns.address, columns.since],
                ...[columns.perMinute, columns.submits, columns.throttled, columns.refused].map(number),
                '',
              ]}
              rows={data.map((bind) => ({ key: bind.id, cells: cellsOf(bind) }))}
            />
            {showMore !== undefined && (
              <Button variant="default" onClick={showMore}>
                {words.more}
              </Button>
            )}
          </Panel>
        )}
      </Stack>
    </>
  );
}
