import { Stack } from '@mantine/core';
import { Link } from 'wouter';
import { withQuery } from '../api/call.ts';
import { useFilters } from '../location.ts';
import { AuditEntries } from '../parts/audit-entries.tsx';
import { FindForm } from '../parts/find-form.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { auditWords as words } from '../words/audit.ts';

/** What was done in the account, for its owners. */
export default function AuditPage() {
  const { values, change } = useFilters({ actor: '', act: '', target: '' });
  return (
    <>
      <PageTitle lead={words.ownLead} actions={<Link href="/account">{words.back}</Link>}>
        {words.title}
      </PageTitle>
      <Stack gap="lg">
        <FindForm fields={words.fields} initial={values} onFind={change} />
        <AuditEntries key={JSON.stringify(values)} path={withQuery('/portal/v1/audit', values)} />
      </Stack>
    </>
  );
}
