import { SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { applicationPath, withQuery } from '../api/call.ts';
import type { Usage } from '../api/record-types.ts';
import { useFilters } from '../location.ts';
import { EmptyState } from '../parts/notice/empty-state.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import type { TabProps } from '../parts/tab-props.ts';
import { useLoad } from '../session/use-load.ts';
import { words } from '../words/usage.tsx';
import { ApiUsagePanel } from './api-usage-panel.tsx';
import { type Span, spans } from './spans.ts';
import { SpendToday } from './spend-today.tsx';
import styles from './usage.module.css';

const refreshMs = 5000;

export default function UsageTab({ application }: TabProps) {
  const { values, change } = useFilters({ range: 'hour' });
  const span = spans.find((each) => each.name === values.range) ?? spans[0];
  if (application.registrations.length === 0) {
    return <EmptyState title={words.empty.title}>{words.empty.next(application.id)}</EmptyState>;
  }
  return (
    <Stack gap="lg">
      <div className={styles.bar}>
        <SegmentedControl
          aria-label={words.span}
          value={span.name}
          onChange={(range) => change({ range })}
          data={spans.map(({ name: value, title }) => ({ value, label: title }))}
        />
      </div>
      <SpendToday applicationId={application.id} />
      <Panels key={span.name} applicationId={application.id} span={span} />
    </Stack>
  );
}

function Panels({ applicationId, span }: { applicationId: string; span: Span }) {
  const path = withQuery(applicationPath(applicationId, '/usage'), span.query(new Date()));
  const { data, problem, reload } = useLoad<Usage>(path, refreshMs);
  if (data === undefined) {
    return problem === undefined ? <Skeleton height={420} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  return (
    <>
      <ProblemCallout problem={problem} onRetry={reload} />
      {data.data.map((usage) => (
        <ApiUsagePanel key={usage.api} usage={usage} span={span} />
      ))}
    </>
  );
}
