import { Button, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/call.ts';
import type { Account, Challenge } from '../api/types.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/visitor.tsx';
import styles from './narrow.module.css';
import { SecondFactorStep } from './second-factor-step.tsx';

export function SignIn() {
  const { enter, expired, service } = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [challenge, setChallenge] = useState<string | undefined>(undefined);
  const { run, busy, problem } = useAction(async () => {
    const answer = await call<Account | Challenge>('POST', '/portal/v1/sessions', { body: { email, password } });
    if ('challenge' in answer) setChallenge(answer.challenge);
    else enter(answer);
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  if (challenge !== undefined)
    return <SecondFactorStep challenge={challenge} onCancel={() => setChallenge(undefined)} />;
  return (
    <div className={styles.narrow}>
      <PageTitle>{words.signIn.title}</PageTitle>
      <Panel>
        <form onSubmit={submit} noValidate>
          <Stack>
            {expired && <Callout tone="calm">{words.signIn.expired}</Callout>}
            <TextInput
              label={words.email}
              type="email"
              autoComplete="username"
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
              error={problem?.of('email')}
            />
            <PasswordField
              label={words.password.label}
              value={password}
              onChange={setPassword}
              error={problem?.of('password')}
            />
            <ProblemCallout problem={problem} fields={['email', 'password']} />
            <Button type="submit" size="md" loading={busy}>
              {words.signIn.title}
            </Button>
            <span>{words.signIn.noAccount}</span>
          </Stack>
        </form>
      </Panel>
      {service.environment === 'sandbox' && <p className={styles.aside}>{words.signIn.demo}</p>}
      <p className={styles.aside}>{words.signIn.forgotten}</p>
    </div>
  );
}
