import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/account.ts';
import { words as ssoWords } from '../words/sso.ts';
import styles from './account.module.css';

interface PasswordFormProps {
  /** The text of the button. */
  label: string;
  /** Whether it also asks for a code of the second factor. */
  withCode?: boolean;
  act: (password: string, code: string) => Promise<void>;
  onCancel: () => void;
}

/** Asks for the password, so that a stolen session is not enough for the action. */
export function PasswordForm({ label, withCode = false, act, onCancel }: PasswordFormProps) {
  const hasPassword = useSession().account?.has_password !== false;
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  // Apps show codes in two groups.
  const { run, busy, problem } = useAction(() => act(password, code.replaceAll(' ', '')));

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form onSubmit={submit} noValidate className={styles.form}>
      <Stack>
        {hasPassword ? (
          <PasswordField
            label={words.password.yours}
            value={password}
            onChange={setPassword}
            error={problem?.of('current_password')}
            autoFocus
          />
        ) : (
          <Text>{ssoWords.noPassword}</Text>
        )}
        {withCode && (
          <TextInput
            label={words.code.label}
            description={words.code.description}
            autoComplete="one-time-code"
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            error={problem?.of('code')}
          />
        )}
        <ProblemCallout problem={problem} fields={[...(hasPassword ? ['current_password'] : []), ...(withCode ? ['code'] : [])]} />
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
