import { Skeleton, Stack } from '@mantine/core';
import type { SignInRecord } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { SignInOutcome } from '../parts/sign-in-outcome.tsx';
import { ShowMore } from '../parts/table/show-more.tsx';
import { Table } from '../parts/table/table.tsx';
import { Time } from '../parts/time.tsx';
import { useList } from '../session/use-load.ts';
import { words } from '../words/sign-ins.ts';

const { time, outcome, way, address } = words.columns;

/** Sign-ins with this person's email, failed ones included. */
export function SignIns() {
  const { data, problem, reload, showMore } = useList<SignInRecord>('/portal/v1/me/sign-ins');
  return (
    <Panel title={words.own.title} lead={words.own.lead}>
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={160} />}
        {data !== undefined && data.length > 0 && (
          <Table
            label={words.own.title}
            columns={[time, outcome, address, way]}
            rows={data.map((entry) => ({
              key: entry.id,
              cells: [
                <Time key="time" at={entry.time} />,
                <SignInOutcome key="outcome" outcome={entry.outcome} />,
                entry.address,
                words.ways[entry.way],
              ],
            }))}
          />
        )}
        {showMore !== undefined && (
          <div>
            <ShowMore onClick={showMore} />
          </div>
        )}
      </Stack>
    </Panel>
  );
}
