import { Skeleton, Stack } from '@mantine/core';
import { operatorPath } from '../../api/call.ts';
import type { RouteTable } from '../../api/operator-types.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Time } from '../../parts/time.tsx';
import { useSession } from '../../session/session.tsx';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/routes.ts';
import { useCarrierNames } from '../use-carrier-names.ts';
import { RouteEditor } from './route-editor.tsx';

const refreshMs = 5000;

export default function Routes() {
  const table = useLoad<RouteTable>(operatorPath('routes'), refreshMs);
  const { service } = useSession();
  const names = useCarrierNames(refreshMs);
  // The sandbox has its own carrier, with virtual handsets.
  const carriers = names && (service.environment === 'sandbox' ? [...names, 'sandbox'] : names);
  const { problem } = table;
  return (
    <>
      <PageTitle lead={<Lead table={table.data} />}>{words.title}</PageTitle>
      <Stack>
        <ProblemCallout problem={problem} onRetry={table.reload} />
        {table.data === undefined || carriers === undefined ? (
          problem === undefined && <Skeleton height={260} />
        ) : (
          <RouteEditor latest={table.data} carriers={carriers} onSaved={table.reload} />
        )}
      </Stack>
    </>
  );
}

function Lead({ table }: { table: RouteTable | undefined }) {
  return (
    <>
      {words.lead}
      {table !== undefined && (table.updated_at ?? null) !== null && (
        <>
          {' '}
          {words.saved(table.version)} <Time at={table.updated_at ?? ''} />.
        </>
      )}
    </>
  );
}
