import '@mantine/core/styles/Popover.css';
import '@mantine/core/styles/ColorSwatch.css';
import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';

export interface BarSeries {
  name: string;
  label: string;
  color: string;
}

interface StackedBarsProps {
  /** The chart's description for screen readers. */
  label: string;
  /** One entry for each step; `at` is its text. */
  data: ({ at: string } & Record<string, string | number>)[];
  series: BarSeries[];
  /** The numbers of the axis; the last one is its end. */
  ticks: number[];
  /** A line across the bars. */
  line?: number;
}

const count = new Intl.NumberFormat();
/** Keeps one request visible beside many. */
const visible = (value: unknown) => (Array.isArray(value) && value[1] > value[0] ? 3 : 0);
/** Room for the longest number of the axis. */
const widthOf = (ticks: number[]) => 22 + 8 * Math.max(...ticks.map((tick) => count.format(tick).length));

/** Counts by step. The library is large: load this with the first chart only. */
export default function StackedBars({ label, data, series, ticks, line }: StackedBarsProps) {
  return (
    <div role="img" aria-label={label}>
      <BarChart
        h={230}
        type="stacked"
        data={data}
        dataKey="at"
        series={series}
        withLegend
        // In the order of the series, not by name.
        legendProps={{ itemSorter: null }}
        tickLine="none"
        gridAxis="x"
        valueFormatter={(value) => count.format(value)}
        yAxisProps={{
          domain: [0, ticks.at(-1) ?? 1],
          allowDataOverflow: true,
          width: widthOf(ticks),
          ticks,
        }}
        xAxisProps={{ minTickGap: 28 }}
        barProps={{ minPointSize: visible, isAnimationActive: false }}
        referenceLines={line === undefined ? [] : [{ y: line, color: 'var(--wait)' }]}
      />
    </div>
  );
}
