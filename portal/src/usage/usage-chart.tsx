import '@mantine/core/styles/Popover.css';
import '@mantine/core/styles/ColorSwatch.css';
import '@mantine/core/styles/InlineInput.css';
import '@mantine/core/styles/Switch.css';
import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { Switch } from '@mantine/core';
import { useState } from 'react';
import type { ApiUsage } from '../api/record-types.ts';
import type { Span } from './spans.ts';

interface UsageChartProps {
  steps: ApiUsage['steps'];
  limit: number;
  span: Span;
  title: string;
}

const count = new Intl.NumberFormat();
/** Keeps one request visible, however high the plan's limit is. */
const visible = (value: unknown) => (Array.isArray(value) && value[1] > value[0] ? 3 : 0);

export default function UsageChart({ steps, limit, span, title }: UsageChartProps) {
  const [close, setClose] = useState(false);
  const busiest = Math.max(0, ...steps.map(({ admitted, refused }) => admitted + refused));
  const top = close ? Math.max(4, Math.ceil(busiest * 1.15)) : Math.max(limit, busiest) * 1.12;
  const ticks = close || busiest > limit ? undefined : [0, limit / 2, limit];
  const line = `${count.format(limit)} a ${span.step}`;
  return (
    <>
      <Switch
        size="xs"
        mb={6}
        label="Scale to the requests, not to the plan"
        checked={close}
        onChange={(event) => setClose(event.currentTarget.checked)}
      />
      <div role="img" aria-label={`${title}: requests per ${span.step} against the plan’s ${line}`}>
        <BarChart
          h={230}
          type="stacked"
          data={steps.map(({ at, admitted, refused }) => ({ at: span.label(at), admitted, refused }))}
          dataKey="at"
          series={[
            { name: 'admitted', label: 'Admitted', color: 'var(--good)' },
            { name: 'refused', label: 'Refused', color: 'var(--bad)' },
          ]}
          withLegend
          tickLine="none"
          gridAxis="x"
          valueFormatter={(value) => count.format(value)}
          yAxisProps={{
            domain: [0, top],
            allowDataOverflow: true,
            width: 52,
            allowDecimals: false,
            ...(ticks && { ticks }),
          }}
          xAxisProps={{ minTickGap: 28 }}
          barProps={{ minPointSize: visible, isAnimationActive: false }}
          referenceLines={
            top >= limit ? [{ y: limit, color: 'var(--wait)', label: line, labelPosition: 'insideBottomRight' }] : []
          }
        />
      </div>
    </>
  );
}
