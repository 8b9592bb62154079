import { TextInput } from '@mantine/core';
import { words } from '../words/records.tsx';

interface DayRangeProps {
  since: string;
  until: string;
  onChange: (changed: { since?: string; until?: string }) => void;
}

/** Two days, both included. */
export function DayRange({ since, until, onChange }: DayRangeProps) {
  return (
    <>
      <TextInput
        label={words.search.fromDay}
        type="date"
        value={since}
        max={until || undefined}
        onChange={(event) => onChange({ since: event.currentTarget.value })}
      />
      <TextInput
        label={words.search.toDay}
        type="date"
        value={until}
        min={since || undefined}
        onChange={(event) => onChange({ until: event.currentTarget.value })}
      />
    </>
  );
}
