import { Button, Skeleton } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { HookCall, Page } from '../api/types.ts';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { Time } from '../parts/time.tsx';
import { useLoad } from '../session/use-load.ts';
import { words as allWords } from '../words/integrations.tsx';
import styles from './integrations.module.css';
import { OutcomeTag, reasonOf, SubjectLink } from './outcome.tsx';

const words = allWords.calls;
const refreshMs = 3000;
const shownFirst = 10;

interface HookCallsProps {
  applicationId: string;
  path: string;
  /** A new value loads the list at once. */
  round?: number;
}

/** The last calls of a hook: the outcome of each, and why. */
export function HookCalls({ applicationId, path, round = 0 }: HookCallsProps) {
  const { data, problem, reload } = useLoad<Page<HookCall>>(`${path}/calls`, refreshMs);
  const [all, setAll] = useState(false);
  const calls = data?.data ?? [];
  useEffect(() => {
    if (round > 0) reload();
  }, [round, reload]);
  return (
    <Panel title={words.title} lead={words.lead}>
      <ProblemCallout problem={problem} onRetry={reload} />
      {data === undefined && problem === undefined && <Skeleton height={120} />}
      {data?.data.length === 0 && <EmptyState title={words.empty}>{words.emptyNext}</EmptyState>}
      {calls.length > 0 && (
        <ul className={styles.list} aria-label={words.title}>
          {(all ? calls : calls.slice(0, shownFirst)).map((each) => (
            <CallRow key={each.id} applicationId={applicationId} each={each} />
          ))}
        </ul>
      )}
      {!all && calls.length > shownFirst && (
        <Button variant="default" size="xs" mt="sm" onClick={() => setAll(true)}>
          {words.showAll(calls.length)}
        </Button>
      )}
    </Panel>
  );
}

function CallRow({ applicationId, each }: { applicationId: string; each: HookCall }) {
  const { id, at, outcome, subject } = each;
  const reason = reasonOf(each);
  // Without the right proof a request belongs to no application.
  const isTraced = outcome !== 'wrong_proof';
  return (
    <li className={styles.call}>
      <OutcomeTag outcome={outcome} />
      {reason !== '' && <span className={styles.reason}>{reason}</span>}
      <span className={styles.links}>
        {subject !== null && <SubjectLink applicationId={applicationId} subject={subject} />}
        {isTraced && <Link href={`/applications/${applicationId}/requests/${id}`}>{words.request}</Link>}
      </span>
      <span className={styles.quiet}>
        <Time at={at} />
      </span>
    </li>
  );
}
