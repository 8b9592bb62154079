import { Link } from 'wouter';
import { AuditLog } from '../parts/audit/log.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { words } from '../words/audit.ts';

/** The audit log of an account, for its owners. */
export default function AuditPage() {
  return (
    <>
      <PageTitle lead={words.ownLead} actions={<Link href="/account">{words.back}</Link>}>
        {words.title}
      </PageTitle>
      <AuditLog path="/portal/v1/audit" />
    </>
  );
}
