import { Button } from '@mantine/core';
import { useLocation } from 'wouter';
import { Panel } from '../parts/panel.tsx';
import { writePageState } from '../session/page-state.ts';
import { testNumbers } from '../try/test-numbers.ts';
import { words } from '../words/overview.ts';
import styles from './overview.module.css';

/** The sandbox's test numbers and their outcomes. */
export function TestNumbers({ applicationId }: { applicationId: string }) {
  const [, navigate] = useLocation();

  function tryNumber(number: string): void {
    writePageState(`try-number-${applicationId}`, number);
    navigate(`/applications/${applicationId}/try`);
  }

  return (
    <Panel title={words.testNumbers.title} lead={words.testNumbers.lead}>
      <ul className={styles.numbers}>
        {testNumbers.map(({ number, does }) => (
          <li key={number}>
            <span className={styles.does}>
              <code>{number}</code> {does}
            </span>
            <Button
              variant="default"
              size="sm"
              onClick={() => tryNumber(number)}
              aria-label={words.testNumbers.tryNumber(number)}
            >
              {words.testNumbers.try}
            </Button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
