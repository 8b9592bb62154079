import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/call.ts';
import { ProblemCallout } from '../../parts/notice/problem-callout.tsx';
import { useToast } from '../../parts/notice/toast.tsx';
import { useAction } from '../../session/use-action.ts';
import { words } from '../../words/operator/limits.ts';
import styles from '../operator.module.css';

interface CallCountriesFormProps {
  path: string;
  countries: readonly string[];
  onSaved: () => void;
}

/** The countries that an application may call: codes by voice cost most. */
export function CallCountriesForm({ path, countries, onSaved }: CallCountriesFormProps) {
  const showToast = useToast();
  const before = countries.join(', ');
  const [typed, setTyped] = useState(before);
  const { run, busy, problem } = useAction(async () => {
    await call('PATCH', path, { body: { call_countries: typed.split(/[\s,;]+/).filter((code) => code !== '') } });
    showToast(words.callsSaved);
    onSaved();
  });
  const wrong = problem?.details.map(({ field }) => field).filter((field) => field.startsWith('call_countries')) ?? [];

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form className={styles.search} onSubmit={submit} noValidate>
      <TextInput
        label={words.calls}
        placeholder={words.noCalls}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={wrong.length > 0 && words.rightCountries}
      />
      <Button
        type="submit"
        variant="default"
        loading={busy}
        disabled={typed === before}
        aria-label={words.saveOf(words.calls)}
      >
        {words.save}
      </Button>
      <ProblemCallout problem={problem} fields={wrong} />
    </form>
  );
}
