import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import styles from './records.module.css';

export interface Search {
  to: string;
  status: string;
  reference: string;
}

export const noSearch: Search = { to: '', status: '', reference: '' };

interface SearchBarProps {
  search: Search;
  states: string[];
  onChange: (search: Search) => void;
}

export function SearchBar({ search, states, onChange }: SearchBarProps) {
  const [draft, setDraft] = useState(search);

  function submit(event: FormEvent): void {
    event.preventDefault();
    onChange(draft);
  }

  function choose(status: string): void {
    setDraft({ ...draft, status });
    onChange({ ...draft, status });
  }

  function clear(): void {
    setDraft(noSearch);
    onChange(noSearch);
  }

  return (
    <search>
      <form className={styles.search} onSubmit={submit}>
        <TextInput
          label="To"
          placeholder="+447700900123"
          type="tel"
          value={draft.to}
          onChange={(event) => setDraft({ ...draft, to: event.currentTarget.value.trim() })}
        />
        <NativeSelect
          label="Status"
          value={draft.status}
          onChange={(event) => choose(event.currentTarget.value)}
          data={[{ value: '', label: 'Any' }, ...states]}
        />
        <TextInput
          label="Reference"
          value={draft.reference}
          onChange={(event) => setDraft({ ...draft, reference: event.currentTarget.value })}
        />
        <Button type="submit" variant="default" leftSection={<Icon name="search" size={16} />}>
          Search
        </Button>
        {search !== noSearch && (
          <Button variant="subtle" onClick={clear}>
            Clear
          </Button>
        )}
      </form>
    </search>
  );
}
