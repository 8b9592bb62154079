import { Button } from '@mantine/core';
import { operatorPath } from '../../api/call.ts';
import type { UnassignedInbound } from '../../api/operator-types.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Table } from '../../parts/table/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useList } from '../../session/use-load.ts';
import { words } from '../../words/operator/numbers.ts';

const refreshMs = 5000;
const columns = [words.texts.received, words.texts.from, words.texts.to, words.carrier, words.texts.text];

/** Texts to numbers that no application has. */
export function UnassignedTexts() {
  const { data, problem, reload, showMore } = useList<UnassignedInbound>(
    operatorPath('inbound?unassigned=true'),
    refreshMs,
  );
  return (
    <Panel title={words.texts.title} lead={words.texts.lead}>
      <ProblemCallout problem={problem} onRetry={reload} />
      {data?.length === 0 && <p>{words.texts.none}</p>}
      {data !== undefined && data.length > 0 && (
        <Table
          label={words.texts.title}
          columns={columns}
          rows={data.map(({ id, received_at, from, to, carrier, message }) => ({
            key: id,
            cells: [<Time key="at" at={received_at} />, from, to, carrier, message ?? words.texts.removed],
          }))}
        />
      )}
      {showMore && (
        <Button variant="default" size="xs" mt="sm" onClick={showMore}>
          {words.more}
        </Button>
      )}
    </Panel>
  );
}
