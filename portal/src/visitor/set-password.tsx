import { Button, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { call } from '../api/call.ts';
import type { Account } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { useSession } from '../session/session.tsx';
import styles from './narrow.module.css';
import { PasswordField } from './password-field.tsx';

export function SetPassword() {
  const { enter } = useSession();
  const { token } = useParams<{ token: string }>();
  const [, navigate] = useLocation();
  const [password, setPassword] = useState('');
  const { run, busy, problem } = useAction(async () => {
    enter(await call<Account>('POST', '/portal/v1/password-resets', { body: { token, password } }));
    // The link works once, so remove it from the history.
    navigate('/applications', { replace: true });
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <div className={styles.narrow}>
      <PageTitle lead="The link works once. It ends all your other sessions.">Set a new password</PageTitle>
      <Panel>
        <form onSubmit={submit} noValidate>
          <Stack>
            <PasswordField
              label="New password"
              isNew
              value={password}
              onChange={setPassword}
              error={problem?.of('password')}
            />
            <ProblemCallout problem={problem} fields={['password']} />
            <Button type="submit" size="md" loading={busy}>
              Set the password and sign in
            </Button>
          </Stack>
        </form>
      </Panel>
    </div>
  );
}
