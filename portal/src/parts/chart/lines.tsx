import '@mantine/core/styles/Popover.css';
import '@mantine/core/styles/ColorSwatch.css';
import '@mantine/charts/styles.css';
import { LineChart } from '@mantine/charts';
import styles from './lines.module.css';

export interface LineSeries {
  name: string;
  label: string;
  /** 0 to 4: the colour and the dashes. The same group has the same style in every chart of a page. */
  style: number;
}

interface LinesProps {
  /** The chart's description for screen readers. */
  label: string;
  /** One entry for each step; `at` is its text. A null leaves a gap. */
  data: ({ at: string } & Record<string, string | number | null>)[];
  series: LineSeries[];
  /** The numbers of the axis; the last one is its end. */
  ticks: number[];
  /** Writes a value, on the axis and beside the pointer. */
  format: (value: number) => string;
}

/** Lines differ by their dashes too, for readers who see few colours. */
const dashes = ['0', '7 4', '2 3', '10 3 2 3', '4 2'];
const colorOf = (style: number) => `var(--series-${style + 1})`;

/** Values by step. The library is large: load this with the first chart only. */
export default function Lines({ label, data, series, ticks, format }: LinesProps) {
  return (
    <>
      <div role="img" aria-label={label}>
        <LineChart
          h={204}
          data={data}
          dataKey="at"
          series={series.map(({ style, ...each }) => ({
            ...each,
            color: colorOf(style),
            strokeDasharray: dashes[style] ?? '0',
          }))}
          curveType="linear"
          connectNulls={false}
          tickLine="none"
          gridAxis="x"
          strokeWidth={2.5}
          dotProps={{ r: 3 }}
          valueFormatter={format}
          // Room for the points at the edges.
          lineChartProps={{ margin: { top: 8, right: 12 } }}
          yAxisProps={{
            domain: [0, ticks.at(-1) ?? 1],
            width: 18 + 8 * Math.max(...ticks.map((tick) => format(tick).length)),
            ticks,
          }}
          xAxisProps={{ minTickGap: 28 }}
          lineProps={{ isAnimationActive: false }}
        />
      </div>
      <ul className={styles.legend}>
        {series.map(({ name, label: title, style }) => (
          <li key={name}>
            <svg width="26" height="8" aria-hidden="true">
              <line
                x1="0"
                x2="26"
                y1="4"
                y2="4"
                stroke={colorOf(style)}
                strokeWidth="3"
                strokeDasharray={dashes[style] ?? '0'}
              />
            </svg>
            {title}
          </li>
        ))}
      </ul>
    </>
  );
}
