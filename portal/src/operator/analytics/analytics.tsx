import { Stack } from '@mantine/core';
import { Controls } from '../../analytics/controls.tsx';
import { readMeasure, readSpan } from '../../analytics/period.ts';
import { Pictures } from '../../analytics/pictures.tsx';
import { operatorPath, withQuery } from '../../api/call.ts';
import { useFilters } from '../../location.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { words as shared } from '../../words/analytics.ts';
import { words } from '../../words/operator/analytics.ts';

type Group = keyof typeof shared.groups;

/** Delivery over time, by country, channel, carrier or sender. */
export default function Analytics() {
  const { values, change } = useFilters({ range: 'day', by: 'country', seconds: 'median' });
  const range = readSpan(values.range);
  const by: Group = values.by in shared.groups ? (values.by as Group) : 'country';
  const seconds = readMeasure(values.seconds);
  return (
    <>
      <PageTitle lead={words.lead}>{words.title}</PageTitle>
      <Stack gap="lg">
        <Controls values={{ range, by, seconds }} groups={shared.groups} onChange={change} />
        <Pictures
          key={`${range} ${by}`}
          path={withQuery(operatorPath('analytics'), { span: range, by })}
          group={by}
          measure={seconds}
          truncated={shared.table.truncated}
        />
      </Stack>
    </>
  );
}
