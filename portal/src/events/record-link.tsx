import { Link } from 'wouter';
import { recordHref } from './event-names.ts';

/** The id of a record, as a link where the record has a page. */
export function RecordLink({ applicationId, subject }: { applicationId: string; subject: string }) {
  const href = recordHref(applicationId, subject);
  const id = <code>{subject}</code>;
  return href === undefined ? id : <Link href={href}>{id}</Link>;
}
