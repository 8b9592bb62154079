import { NativeSelect, TextInput } from '@mantine/core';
import type { AppEvent } from '../api/event-types.ts';
import { eventGroups } from './event-names.ts';
import styles from './events.module.css';

export interface Filter {
  /** A type, or the beginning of several. Empty for all. */
  type: string;
  subject: string;
}

export const noFilter: Filter = { type: '', subject: '' };

export function matches({ type, subject }: Filter, event: AppEvent): boolean {
  const isOfType = type.endsWith('.') ? event.type.startsWith(type) : type === '' || event.type === type;
  return isOfType && (subject === '' || event.subject === subject || event.reference === subject);
}

const choices = [
  { value: '', label: 'All events' },
  ...eventGroups.map(({ title, prefix, types }) => ({
    group: title,
    items: [{ value: prefix, label: `All ${title.toLowerCase()}` }, ...types],
  })),
];

export function EventFilter({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  return (
    <search className={styles.filter}>
      <NativeSelect
        label="Type"
        data={choices}
        value={filter.type}
        onChange={(event) => onChange({ ...filter, type: event.currentTarget.value })}
      />
      <TextInput
        label="Record or reference"
        placeholder="msg_… or order-4711"
        value={filter.subject}
        onChange={(event) => onChange({ ...filter, subject: event.currentTarget.value.trim() })}
      />
    </search>
  );
}
