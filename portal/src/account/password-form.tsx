import { Button, Group, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useAction } from '../api/use-action.ts';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { PasswordField } from '../visitor/password-field.tsx';
import { words } from '../words/account.ts';
import styles from './account.module.css';

interface PasswordFormProps {
  /** The text of the button. */
  label: string;
  act: (password: string) => Promise<void>;
  onCancel: () => void;
}

/** Asks for the password before something that a thief of the session must not do. */
export function PasswordForm({ label, act, onCancel }: PasswordFormProps) {
  const [password, setPassword] = useState('');
  const { run, busy, problem } = useAction(act);

  function submit(event: FormEvent): void {
    event.preventDefault();
    run(password);
  }

  return (
    <form onSubmit={submit} noValidate className={styles.form}>
      <Stack>
        <PasswordField
          label={words.password.yours}
          value={password}
          onChange={setPassword}
          error={problem?.of('current_password')}
          autoFocus
        />
        <ProblemCallout problem={problem} fields={['current_password']} />
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
