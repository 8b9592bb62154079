import { Button, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { call } from '../api/call.ts';
import type { Account } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Callout } from '../parts/callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { useSession } from '../session/session.tsx';
import styles from './narrow.module.css';
import { PasswordField } from './password-field.tsx';

export function SignIn() {
  const { enter, expired, service } = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { run, busy, problem } = useAction(async () => {
    enter(await call<Account>('POST', '/portal/v1/sessions', { body: { email, password } }));
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <div className={styles.narrow}>
      <PageTitle>Sign in</PageTitle>
      <Panel>
        <form onSubmit={submit} noValidate>
          <Stack>
            {expired && <Callout tone="calm">Your session has ended. Sign in again to continue.</Callout>}
            <TextInput
              label="Email"
              type="email"
              autoComplete="username"
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
              error={problem?.of('email')}
            />
            <PasswordField label="Password" value={password} onChange={setPassword} error={problem?.of('password')} />
            <ProblemCallout problem={problem} fields={['email', 'password']} />
            <Button type="submit" size="md" loading={busy}>
              Sign in
            </Button>
            <span>
              New here? <Link href="/">Sign up</Link>
            </span>
          </Stack>
        </form>
      </Panel>
      {service.environment === 'sandbox' && (
        <p className={styles.aside}>
          To look around, use the demo account with its two applications. The service printed its email and password at
          the first start, and saved them in <code>sandbox-credentials.json</code> in the data folder.
        </p>
      )}
      <p className={styles.aside}>
        Forgot your password? Ask the administrator for a reset link: <code>npm run reset-password -- your@email</code>
      </p>
    </div>
  );
}
