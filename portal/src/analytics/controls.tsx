import { SegmentedControl } from '@mantine/core';
import { words } from '../words/analytics.ts';
import styles from './analytics.module.css';

interface ControlsProps {
  values: { range: string; seconds: string; by?: string };
  /** The groups to choose from; none for a page with only one. */
  groups?: Record<string, string>;
  onChange: (changed: { range?: string; seconds?: string; by?: string }) => void;
}

/** The period and the figures that the pictures show. */
export function Controls({ values, groups, onChange }: ControlsProps) {
  return (
    <div className={styles.controls}>
      <SegmentedControl
        aria-label={words.span}
        value={values.range}
        onChange={(range) => onChange({ range })}
        data={optionsOf(words.spans)}
      />
      {groups !== undefined && values.by !== undefined && (
        <SegmentedControl
          aria-label={words.by}
          value={values.by}
          onChange={(by) => onChange({ by })}
          data={optionsOf(groups)}
        />
      )}
      <SegmentedControl
        aria-label={words.seconds}
        value={values.seconds}
        onChange={(seconds) => onChange({ seconds })}
        data={optionsOf(words.measures)}
      />
    </div>
  );
}

function optionsOf(labels: Record<string, string>) {
  return Object.entries(labels).map(([value, label]) => ({ value, label }));
}
