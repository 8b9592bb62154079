import { Stack } from '@mantine/core';
import { operatorPath, withQuery } from '../../api/call.ts';
import type { OperatedSignIn } from '../../api/operator-types.ts';
import { useFilters } from '../../location.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { SignInOutcome } from '../../parts/sign-in-outcome.tsx';
import { Tag } from '../../parts/status.tsx';
import { FindForm } from '../../parts/table/find-form.tsx';
import { LoadedTable } from '../../parts/table/loaded-table.tsx';
import { Time } from '../../parts/time.tsx';
import { words } from '../../words/sign-ins.ts';

const { time, email, outcome, way, address } = words.columns;

export default function SignIns() {
  const { values, change } = useFilters({ email: '', address: '' });
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <FindForm fields={words.fields} initial={values} onFind={change} />
        <LoadedTable
          key={`${values.email} ${values.address}`}
          path={withQuery(operatorPath('sign-ins'), values)}
          label={words.title}
          columns={[time, email, outcome, address, way]}
          cellsOf={cellsOf}
          nothing={words.nothing}
        />
      </Stack>
    </>
  );
}

function cellsOf(entry: OperatedSignIn) {
  return [
    <Time key="time" at={entry.time} />,
    <span key="email">
      {entry.email} {entry.person_id === null && <Tag>{words.unknown}</Tag>}
    </span>,
    <SignInOutcome key="outcome" outcome={entry.outcome} />,
    entry.address,
    words.ways[entry.way],
  ];
}
