import { NativeSelect, TextInput } from '@mantine/core';
import type { AppEvent } from '../api/event-types.ts';
import { words } from '../words/events.tsx';
import { eventGroups } from './event-names.ts';
import styles from './events.module.css';

/** `type` is a type, or the beginning of several; empty for all. */
export const noFilter = { type: '', subject: '' };
export type Filter = typeof noFilter;

export function matches({ type, subject }: Filter, event: AppEvent): boolean {
  const isOfType = type.endsWith('.') ? event.type.startsWith(type) : type === '' || event.type === type;
  return isOfType && (subject === '' || event.subject === subject || event.reference === subject);
}

const choices = [
  { value: '', label: words.filter.all },
  ...eventGroups.map(({ title, prefix, types }) => ({
    group: title,
    items: [{ value: prefix, label: words.filter.allOf(title) }, ...types],
  })),
];

export function EventFilter({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  return (
    <search className={styles.filter}>
      <NativeSelect
        label={words.filter.type}
        data={choices}
        value={filter.type}
        onChange={(event) => onChange({ ...filter, type: event.currentTarget.value })}
      />
      <TextInput
        label={words.filter.subject}
        placeholder={words.filter.example}
        value={filter.subject}
        onChange={(event) => onChange({ ...filter, subject: event.currentTarget.value.trim() })}
      />
    </search>
  );
}
