import { operatorPath } from '../../api/call.ts';
import { AuditLog } from '../../parts/audit/log.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { words } from '../../words/audit.ts';

export default function Audit() {
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <AuditLog path={operatorPath('audit')} />
    </>
  );
}
