import { Button, Skeleton, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { planTitle } from '../../api/apis.ts';
import { operatorPath } from '../../api/call.ts';
import type { LimitedPlan } from '../../api/operator-types.ts';
import type { Page } from '../../api/types.ts';
import { useLoad } from '../../api/use-load.ts';
import { Icon } from '../../parts/icon.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemCallout } from '../../parts/problem-callout.tsx';
import styles from '../operator.module.css';
import { ApplicationLimits } from './application-limits.tsx';
import { SegmentsForm } from './segments-form.tsx';

export default function Limits() {
  const { id } = useParams<{ id?: string }>();
  return (
    <>
      <PageTitle lead="How many segments applications may send in a day (UTC), so that a leaked key cannot cost more. They hold in production.">
        Limits
      </PageTitle>
      <Stack gap="lg">
        <FindApplication key={`find ${id}`} id={id} />
        {id !== undefined && <ApplicationLimits key={id} id={id} />}
        <Plans />
      </Stack>
    </>
  );
}

function FindApplication({ id = '' }: { id: string | undefined }) {
  const [, navigate] = useLocation();
  const [wanted, setWanted] = useState(id);

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (wanted !== '') navigate(`/operator/limits/${encodeURIComponent(wanted)}`);
  }

  return (
    <form className={styles.search} onSubmit={submit}>
      <TextInput
        label="Application id"
        placeholder="app_…"
        miw={300}
        value={wanted}
        onChange={(event) => setWanted(event.currentTarget.value.trim())}
      />
      <Button type="submit" variant="default" leftSection={<Icon name="search" size={16} />}>
        Find
      </Button>
    </form>
  );
}

function Plans() {
  const { data, problem, reload } = useLoad<Page<LimitedPlan>>(operatorPath('plans'));
  return (
    <Panel title="Plans" lead="For every application that has no number of its own.">
      <Stack>
        <ProblemCallout problem={problem} onRetry={reload} />
        {data === undefined && problem === undefined && <Skeleton height={120} />}
        {data?.data.map(({ plan, segments_per_day }) => (
          <SegmentsForm
            key={`${plan} ${segments_per_day}`}
            label={`${planTitle(plan)}: segments a day`}
            empty="No limit"
            path={operatorPath(`plans/${plan}`)}
            segments={segments_per_day}
            onSaved={reload}
          />
        ))}
      </Stack>
    </Panel>
  );
}
