import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { words as listWords } from '../../words/list.ts';
import { Icon } from '../icon.tsx';
import styles from './find-form.module.css';

interface FindFormProps<Name extends string> {
  fields: Record<Name, { label: string; example?: string; type?: 'date' }>;
  /** The current search. */
  initial: Record<Name, string>;
  onFind: (wanted: Record<Name, string>) => void;
}

/** Search fields. An empty field matches everything. */
export function FindForm<Name extends string>({ fields, initial, onFind }: FindFormProps<Name>) {
  const names = Object.keys(fields) as Name[];
  const [typed, setTyped] = useState(initial);

  function submit(event: FormEvent): void {
    event.preventDefault();
    const wanted = names.map((name) => [name, typed[name].trim()]);
    onFind(Object.fromEntries(wanted) as Record<Name, string>);
  }

  return (
    <form className={styles.search} onSubmit={submit}>
      {names.map((name) => (
        <TextInput
          key={name}
          label={fields[name].label}
          type={fields[name].type ?? 'text'}
          placeholder={fields[name].example}
          value={typed[name]}
          onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
        />
      ))}
      <Button type="submit" variant="default" leftSection={<Icon name="search" size={16} />}>
        {listWords.find}
      </Button>
    </form>
  );
}
