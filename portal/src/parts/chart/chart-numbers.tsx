import styles from './chart-numbers.module.css';

interface ChartNumbersProps {
  summary: string;
  /** The first is the heading of the column of steps. */
  columns: string[];
  rows: { step: string; numbers: (number | null)[] }[];
  /** Writes a number; as a count unless given. */
  format?: (value: number) => string;
}

const count = new Intl.NumberFormat();

/** The numbers of a chart as a table, shown on demand. */
export function ChartNumbers({ summary, columns, rows, format = count.format }: ChartNumbersProps) {
  return (
    <details className={styles.numbers}>
      <summary>{summary}</summary>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ step, numbers }) => (
            <tr key={step}>
              <th scope="row">{step}</th>
              {numbers.map((number, index) => (
                <td key={columns[index + 1]}>{number === null ? '–' : format(number)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
