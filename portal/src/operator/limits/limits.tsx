import { Skeleton, Stack } from '@mantine/core';
import { useLocation, useParams } from 'wouter';
import { planTitle } from '../../api/apis.ts';
import { operatorPath } from '../../api/call.ts';
import type { LimitedPlan } from '../../api/operator-types.ts';
import type { Page } from '../../api/types.ts';
import { useLoad } from '../../api/use-load.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import { words } from '../../words/operator-limits.ts';
import { ApplicationField } from '../application-field.tsx';
import styles from '../operator.module.css';
import { ApplicationLimits } from './application-limits.tsx';
import { SegmentsForm } from './segments-form.tsx';

export default function Limits() {
  const { id } = useParams<{ id?: string }>();
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <FindApplication id={id} />
        {id !== undefined && <ApplicationLimits key={id} id={id} />}
        <Plans />
      </Stack>
    </>
  );
}

function FindApplication({ id = '' }: { id: string | undefined }) {
  const [, navigate] = useLocation();
  return (
    <div className={styles.chooser}>
      <ApplicationField
        value={id}
        onChange={(chosen) => navigate(chosen === '' ? '/operator/limits' : `/operator/limits/${chosen}`)}
      />
    </div>
  );
}

function Plans() {
  const { data, problem, reload } = useLoad<Page<LimitedPlan>>(operatorPath('plans'));
  return (
    <Panel title={words.plans} lead={words.plansLead}>
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={120} />}
        {data?.data.map(({ plan, segments_per_day }) => (
          <SegmentsForm
            key={`${plan} ${segments_per_day}`}
            label={words.ofPlan(planTitle(plan))}
            empty={words.noLimit}
            path={operatorPath(`plans/${plan}`)}
            segments={segments_per_day}
            onSaved={reload}
          />
        ))}
      </Stack>
    </Panel>
  );
}
