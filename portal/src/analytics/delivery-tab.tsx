import { Stack } from '@mantine/core';
import { applicationPath, withQuery } from '../api/call.ts';
import { useFilters } from '../location.ts';
import type { TabProps } from '../parts/tab-props.ts';
import { words } from '../words/analytics.ts';
import { Controls } from './controls.tsx';
import { readMeasure, readSpan } from './period.ts';
import { Pictures } from './pictures.tsx';

/** Delivery of one application over time, by country or channel. */
export default function DeliveryTab({ application }: TabProps) {
  const { values, change } = useFilters({ range: 'day', by: 'country', seconds: 'median' });
  const range = readSpan(values.range);
  const by = values.by === 'channel' ? 'channel' : 'country';
  const seconds = readMeasure(values.seconds);
  return (
    <Stack gap="lg">
      <Controls values={{ range, by, seconds }} groups={words.ownGroups} onChange={change} />
      <Pictures
        key={`${range} ${by}`}
        path={withQuery(applicationPath(application.id, '/analytics'), { span: range, by })}
        group={by}
        measure={seconds}
        truncated={words.table.truncatedCountries}
      />
    </Stack>
  );
}
