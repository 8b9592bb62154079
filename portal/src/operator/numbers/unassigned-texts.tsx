import { Button } from '@mantine/core';
import { operatorPath } from '../../api/call.ts';
import type { UnassignedInbound } from '../../api/operator-types.ts';
import { useList } from '../../api/use-load.ts';
import { Panel } from '../../parts/panel.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

const refreshMs = 5000;
const columns = ['Received', 'From', 'To', 'Carrier', 'Text'];

/** What came to numbers that no application holds. */
export function UnassignedTexts() {
  const { data, problem, reload, showMore } = useList<UnassignedInbound>(
    operatorPath('inbound?unassigned=true'),
    refreshMs,
  );
  return (
    <Panel title="Texts to other numbers" lead="They came to numbers that you gave to no application.">
      <ProblemCallout problem={problem} onRetry={reload} />
      {data?.length === 0 && <p>None.</p>}
      {data !== undefined && data.length > 0 && (
        <Table
          label="Texts to other numbers"
          columns={columns}
          rows={data.map(({ id, received_at, from, to, carrier, message }) => ({
            key: id,
            cells: [<Time key="at" at={received_at} />, from, to, carrier, message ?? 'Text removed'],
          }))}
        />
      )}
      {showMore && (
        <Button variant="default" size="xs" mt="sm" onClick={showMore}>
          Show more
        </Button>
      )}
    </Panel>
  );
}
