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

/** The times that these days begin and end at, in the reader's time zone. What is no day is left out. */
export function timesOf({ since, until }: { since: string; until: string }): { since: string; until: string } {
  return { since: midnightOf(since, 0), until: midnightOf(until, 1) };
}

function midnightOf(day: string, daysLater: number): string {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + daysLater);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}
