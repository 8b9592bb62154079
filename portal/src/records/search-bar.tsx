import { Button, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { words as allWords } from '../words/records.tsx';
import { DayRange } from './day-range.tsx';
import styles from './records.module.css';

const words = allWords.search;

/** `since` and `until` are days in the reader's time zone, both included. */
export const noSearch = { to: '', status: '', reference: '', since: '', until: '' };
export type Search = typeof noSearch;

interface SearchBarProps {
  search: Search;
  states: string[];
  onChange: (search: Search) => void;
  /** More buttons, at the end. */
  children?: ReactNode;
}

export function SearchBar({ search, states, onChange, children }: SearchBarProps) {
  const [draft, setDraft] = useState(search);

  function submit(event: FormEvent): void {
    event.preventDefault();
    onChange({ ...draft, to: draft.to.trim() });
  }

  function choose(chosen: Partial<Search>): void {
    const next = { ...draft, ...chosen };
    setDraft(next);
    onChange(next);
  }

  return (
    <search>
      <form className={styles.search} onSubmit={submit}>
        <TextInput
          label={words.to}
          placeholder={words.toPlaceholder}
          type="tel"
          value={draft.to}
          onChange={(event) => setDraft({ ...draft, to: event.currentTarget.value })}
        />
        <NativeSelect
          label={words.status}
          value={draft.status}
          onChange={(event) => choose({ status: event.currentTarget.value })}
          data={[{ value: '', label: words.any }, ...states]}
        />
        <TextInput
          label={words.reference}
          value={draft.reference}
          onChange={(event) => setDraft({ ...draft, reference: event.currentTarget.value })}
        />
        <DayRange since={draft.since} until={draft.until} onChange={choose} />
        <div className={styles.buttons}>
          <Button type="submit" variant="default" leftSection={<Icon name="search" size={16} />}>
            {words.submit}
          </Button>
          {Object.values(search).some((value) => value !== '') && (
            <Button variant="subtle" onClick={() => choose(noSearch)}>
              {words.clear}
            </Button>
          )}
          {children}
        </div>
      </form>
    </search>
  );
}
