import { Stack } from '@mantine/core';
import { operatorPath, withQuery } from '../../api/call.ts';
import { useFilters } from '../../location.ts';
import { AuditEntries } from '../../parts/audit-entries.tsx';
import { FindForm } from '../../parts/find-form.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { auditWords as words } from '../../words/audit.ts';

export default function Audit() {
  const { values, change } = useFilters({ actor: '', act: '', target: '' });
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <FindForm fields={words.fields} initial={values} onFind={change} />
        <AuditEntries key={JSON.stringify(values)} path={withQuery(operatorPath('audit'), values)} />
      </Stack>
    </>
  );
}
