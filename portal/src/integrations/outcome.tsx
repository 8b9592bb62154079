import { Link } from 'wouter';
import type { HookTest } from '../api/types.ts';
import { Tag } from '../parts/status.tsx';
import { words } from '../words/integrations.tsx';

const tones: Record<string, 'good' | 'wait' | 'plain'> = { sent: 'good', repeated: 'plain', limited: 'wait' };

export function OutcomeTag({ outcome }: { outcome: string }) {
  return <Tag tone={tones[outcome] ?? 'bad'}>{words.outcomes[outcome]?.title ?? outcome}</Tag>;
}

/** Why, and what to do. The service writes some details as sentences. */
export function reasonOf({ outcome, detail }: Pick<HookTest, 'outcome' | 'detail'>): string {
  const why = detail?.replace(/[^.]$/, '$&.');
  return [why, words.outcomes[outcome]?.next].filter(Boolean).join(' ');
}

/** A link to the verification or the text that a call made. */
export function SubjectLink({ applicationId, subject }: { applicationId: string; subject: string }) {
  const isCode = subject.startsWith('ver_');
  return (
    <Link href={`/applications/${applicationId}/${isCode ? 'verifications' : 'messages'}/${subject}`}>
      {isCode ? words.calls.verification : words.calls.message}
    </Link>
  );
}
