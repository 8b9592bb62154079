import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { Panel } from '../parts/panel.tsx';
import { words as auditWords } from '../words/audit.ts';

const { title, lead, open } = auditWords.panel;

/** A link to the account's audit log. */
export function AuditLink() {
  return (
    <Panel
      title={title}
      lead={lead}
      actions={
        <Button component={Link} href="/account/audit" variant="default" size="sm">
          {open}
        </Button>
      }
    />
  );
}
