import { Stack } from '@mantine/core';
import { withQuery } from '../../api/call.ts';
import { useFilters } from '../../location.ts';
import { words } from '../../words/audit.ts';
import { timesOf } from '../day-times.ts';
import { FindForm } from '../table/find-form.tsx';
import { LoadedTable } from '../table/loaded-table.tsx';
import { auditCells } from './cells.tsx';

const { time, act, target, by, details } = words.columns;

/** The audit log with a search. The address contains the search. */
export function AuditLog({ path }: { path: string }) {
  const { values, change } = useFilters({ actor: '', act: '', target: '', since: '', until: '' });
  const { since, until, ...named } = values;
  const { since: from, until: to } = timesOf({ since, until });
  return (
    <Stack gap="lg">
      <FindForm fields={words.fields} initial={values} onFind={change} />
      <LoadedTable
        key={JSON.stringify(values)}
        path={withQuery(path, { ...named, from, to })}
        label={words.title}
        columns={[time, act, by, target, details]}
        cellsOf={auditCells}
        nothing={words.nothing}
      />
    </Stack>
  );
}
