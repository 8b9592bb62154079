import styles from './chart-numbers.module.css';

interface ChartNumbersProps {
  summary: string;
  /** The first is the heading of the column of steps. */
  columns: string[];
  rows: { step: string; numbers: (number | null)[] }[];
}

const count = new Intl.NumberFormat();

/** The numbers of a chart as a table, shown on demand. */
export function ChartNumbers({ summary, columns, rows }: ChartNumbersProps) {
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
                <td key={columns[index + 1]}>{number === null ? '–' : count.format(number)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
