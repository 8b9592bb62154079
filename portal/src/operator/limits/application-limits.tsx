import { Button, Skeleton, Stack } from '@mantine/core';
import { call, operatorPath } from '../../api/call.ts';
import type { LimitedApplication } from '../../api/operator-types.ts';
import { Facts } from '../../parts/facts.tsx';
import { Callout } from '../../parts/notice/callout.tsx';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useAction } from '../../session/use-action.ts';
import { useLoad } from '../../session/use-load.ts';
import { words } from '../../words/operator/limits.ts';
import { CallCountriesForm } from './call-countries-form.tsx';
import { SegmentsForm } from './segments-form.tsx';
import { Templates } from './templates.tsx';

const count = new Intl.NumberFormat();

/** The sending limits of one application, and its verification texts. */
export function ApplicationLimits({ id }: { id: string }) {
  const path = operatorPath(`applications/${encodeURIComponent(id)}`);
  const { data, problem, reload } = useLoad<LimitedApplication>(path);
  const {
    run,
    busy,
    problem: refused,
  } = useAction(async (word: 'allow' | 'deny') => {
    await call('POST', `${path}/${word}-high-priority`);
    reload();
  });
  if (problem?.status === 404) return <Callout tone="wait" title={words.missing} />;
  if (data === undefined) {
    return problem === undefined ? <Skeleton height={300} /> : <ProblemCallout problem={problem} onRetry={reload} />;
  }
  const { name, high_priority, segments_per_day, segments_limit, segments_today, call_countries } = data;
  return (
    <>
      <Panel
        title={name}
        actions={
          <Button variant="default" size="xs" loading={busy} onClick={() => run(high_priority ? 'deny' : 'allow')}>
            {high_priority ? words.disallow : words.allow}
          </Button>
        }
      >
        <Stack>
          <Facts
            facts={[
              [words.today, count.format(segments_today)],
              [words.limit, segments_limit === null ? words.none : count.format(segments_limit)],
              [words.priority, high_priority ? words.allowed : words.notAllowed],
            ]}
          />
          <ProblemCallout problem={refused} />
          <SegmentsForm key={segments_per_day} path={path} segments={segments_per_day} onSaved={reload} />
          <CallCountriesForm key={call_countries.join()} path={path} countries={call_countries} onSaved={reload} />
        </Stack>
      </Panel>
      <Templates path={`${path}/templates`} />
    </>
  );
}
