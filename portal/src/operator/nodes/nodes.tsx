import { Skeleton, Stack } from '@mantine/core';
import { operatorPath } from '../../api/call.ts';
import type { SeenNode } from '../../api/operator-types.ts';
import type { Page } from '../../api/types.ts';
import { Callout } from '../../parts/notice/callout.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Status, Tag } from '../../parts/status.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/nodes.ts';
import styles from '../operator.module.css';

const refreshMs = 5000;
const { node, state, version, role, started, seen } = words.columns;

export default function Nodes() {
  const { data, problem, reload } = useLoad<Page<SeenNode>>(operatorPath('nodes'), refreshMs);
  const versions = new Set(data?.data.filter(({ live }) => live).map((each) => each.version));
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <ProblemCallout problem={problem} onRetry={reload} />
        {versions.size > 1 && (
          <Callout tone="wait" title={words.mixed.title}>
            {words.mixed.text}
          </Callout>
        )}
        {data === undefined && problem === undefined && <Skeleton height={120} />}
        {data !== undefined && (
          <Panel>
            <Table
              label={words.table}
              columns={[node, state, version, role, started, seen]}
              rows={data.data.map((each) => ({ key: each.id, cells: cellsOf(each) }))}
            />
          </Panel>
        )}
      </Stack>
    </>
  );
}

function cellsOf({ id, live, answered, version: runs, role: does, started_at, seen_at }: SeenNode) {
  return [
    <div key="id" className={styles.line}>
      <code>{id}</code> {answered && <Tag tone="calm">{words.answered}</Tag>}
    </div>,
    <Status key="state" state={live ? words.live : words.silent} />,
    runs ?? words.unknown,
    does === null ? words.unknown : (words.roles[does] ?? does),
    started_at === null ? words.unknown : <Time key="started" at={started_at} />,
    <Time key="seen" at={seen_at} />,
  ];
}
