import { Skeleton, Stack } from '@mantine/core';
import { operatorPath } from '../../api/call.ts';
import type { Carrier, RouteTable } from '../../api/operator-types.ts';
import type { Page } from '../../api/types.ts';
import { useLoad } from '../../api/use-load.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { Time } from '../../parts/time.tsx';
import { RouteEditor } from './route-editor.tsx';

const refreshMs = 5000;

export default function Routes() {
  const table = useLoad<RouteTable>(operatorPath('routes'), refreshMs);
  const carriers = useLoad<Page<Carrier>>(operatorPath('carriers?limit=100'), refreshMs);
  const problem = table.problem ?? carriers.problem;
  return (
    <>
      <PageTitle lead={<Lead table={table.data} />}>Routes</PageTitle>
      <Stack>
        <ProblemCallout problem={problem} onRetry={table.reload} />
        {table.data === undefined || carriers.data === undefined ? (
          problem === undefined && <Skeleton height={260} />
        ) : (
          <RouteEditor
            latest={table.data}
            carriers={carriers.data.data.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b))}
            onSaved={table.reload}
          />
        )}
      </Stack>
    </>
  );
}

function Lead({ table }: { table: RouteTable | undefined }) {
  return (
    <>
      The first rule that matches a text says which carriers take it. Where no rule leads, nothing goes.
      {table !== undefined && (table.updated_at ?? null) !== null && (
        <>
          {' '}
          Version {table.version}, saved <Time at={table.updated_at ?? ''} />.
        </>
      )}
    </>
  );
}
