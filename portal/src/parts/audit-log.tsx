import { Stack } from '@mantine/core';
import { withQuery } from '../api/call.ts';
import { useFilters } from '../location.ts';
import { words } from '../words/audit.ts';
import { AuditEntries } from './audit-entries.tsx';
import { timesOf } from './day-times.ts';
import { FindForm } from './find-form.tsx';

/** The audit log with a search. What is searched for is in the address. */
export function AuditLog({ path }: { path: string }) {
  const { values, change } = useFilters({ actor: '', act: '', target: '', since: '', until: '' });
  const { since, until, ...named } = values;
  const { since: from, until: to } = timesOf({ since, until });
  return (
    <Stack gap="lg">
      <FindForm fields={words.fields} initial={values} onFind={change} />
      <AuditEntries key={JSON.stringify(values)} path={withQuery(path, { ...named, from, to })} />
    </Stack>
  );
}
