import { Button, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../api/call.ts';
import type { Account } from '../api/types.ts';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { Panel } from '../parts/panel.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/visitor.tsx';

export function SignUp() {
  const { enter } = useSession();
  const [, navigate] = useLocation();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { run, busy, problem } = useAction(async () => {
    enter(await call<Account>('POST', '/portal/v1/accounts', { body: { email, password } }));
    navigate('/applications');
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <Panel title={words.signUp.title}>
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label={words.email}
            type="email"
            autoComplete="email"
            required
            withAsterisk={false}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            error={problem?.of('email')}
          />
          <PasswordField
            label={words.password.label}
            isNew
            required
            value={password}
            onChange={setPassword}
            error={problem?.of('password')}
          />
          <ProblemCallout problem={problem} fields={['email', 'password']} />
          <Button type="submit" size="md" loading={busy}>
            {words.signUp.submit}
          </Button>
          <span>{words.signUp.hasAccount}</span>
        </Stack>
      </form>
    </Panel>
  );
}
