import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/account.ts';
import styles from './account.module.css';

interface CodeFormProps {
  /** The text of the button. */
  label: string;
  /** During the set-up no recovery code exists yet. */
  isSetup?: boolean;
  act: (code: string) => Promise<void>;
  onCancel: () => void;
}

/** Asks for a code of the second factor. */
export function CodeForm({ label, isSetup = false, act, onCancel }: CodeFormProps) {
  const [code, setCode] = useState('');
  const { run, busy, problem } = useAction(act);

  function submit(event: FormEvent): void {
    event.preventDefault();
    // Apps show codes in two groups.
    run(code.replaceAll(' ', ''));
  }

  return (
    <form onSubmit={submit} noValidate className={styles.form}>
      <Stack>
        <TextInput
          label={words.code.label}
          description={isSetup ? words.code.fromApp : words.code.description}
          autoComplete="one-time-code"
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={problem?.of('code')}
          data-autofocus
          autoFocus
        />
        <ProblemCallout problem={problem} fields={['code']} />
        <Group>
          <Button type="submit" loading={busy}>
            {label}
          </Button>
          <Button variant="default" onClick={onCancel}>
            {words.cancel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
