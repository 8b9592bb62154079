import '@mantine/core/styles/Popover.css';
import '@mantine/core/styles/Combobox.css';
import '@mantine/core/styles/Pill.css';
import '@mantine/core/styles/PillsInput.css';
import { MultiSelect, Select } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { words as operatorWords } from '../words/operator/pages.ts';
import styles from './operator.module.css';
import { type FoundApplication, useApplicationSearch } from './use-application-search.ts';

const words = operatorWords.application;

interface ApplicationFieldProps {
  /** An application's id; empty if none is chosen. */
  value: string;
  onChange: (id: string) => void;
  placeholder?: string;
  error?: ReactNode;
}

/** Chooses an application by its name, its id or the email of a member. */
export function ApplicationField({ value, onChange, placeholder = words.placeholder, error }: ApplicationFieldProps) {
  const [search, setSearch] = useState('');
  const { found, problem } = useApplicationSearch(search, value === '' ? [] : [value]);
  return (
    <Select
      label={words.label}
      placeholder={placeholder}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': words.clear }}
      value={value === '' ? null : value}
      onChange={(id) => onChange(id ?? '')}
      searchValue={search}
      onSearchChange={setSearch}
      data={found}
      filter={({ options }) => options}
      renderOption={({ option }) => <Option found={option as FoundApplication} />}
      nothingFoundMessage={problem === undefined ? words.nothing : words.failed}
      error={error}
    />
  );
}

interface ApplicationsFieldProps {
  value: string[];
  onChange: (ids: string[]) => void;
  description: string;
}

/** Chooses several applications. */
export function ApplicationsField({ value, onChange, description }: ApplicationsFieldProps) {
  const [search, setSearch] = useState('');
  const { found, problem } = useApplicationSearch(search, value);
  return (
    <MultiSelect
      label={words.labelMany}
      description={description}
      {...(value.length === 0 && { placeholder: words.placeholder })}
      searchable
      value={value}
      onChange={onChange}
      searchValue={search}
      onSearchChange={setSearch}
      data={found}
      filter={({ options }) => options}
      renderOption={({ option }) => <Option found={option as FoundApplication} />}
      nothingFoundMessage={problem === undefined ? words.nothing : words.failed}
    />
  );
}

function Option({ found: { label, email, value } }: { found: FoundApplication }) {
  return (
    <div className={styles.option}>
      <strong>{label}</strong>
      <span className={styles.quiet}>{email}</span>
      <code className={styles.quiet}>{value}</code>
    </div>
  );
}
