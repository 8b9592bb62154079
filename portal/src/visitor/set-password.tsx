import { Button, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { call } from '../api/call.ts';
import type { Account, Challenge } from '../api/types.ts';
import { useAction } from '../api/use-action.ts';
import { Callout } from '../parts/callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { ProblemCallout } from '../parts/problem-callout.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/visitor.tsx';
import styles from './narrow.module.css';
import { PasswordField } from './password-field.tsx';
import { SecondFactorStep } from './second-factor-step.tsx';

export function SetPassword() {
  const { enter } = useSession();
  const { token } = useParams<{ token: string }>();
  const [, navigate] = useLocation();
  const [password, setPassword] = useState('');
  const [challenge, setChallenge] = useState<string | undefined>(undefined);
  const { run, busy, problem } = useAction(async () => {
    const body = { token, password };
    const answer = await call<Account | Challenge>('POST', '/portal/v1/password-resets', { body });
    if ('challenge' in answer) return setChallenge(answer.challenge);
    enter(answer);
    // The link works once, so remove it from the history.
    navigate('/applications', { replace: true });
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  if (challenge !== undefined)
    return <SecondFactorStep challenge={challenge} onCancel={() => navigate('/sign-in', { replace: true })} />;
  return (
    <div className={styles.narrow}>
      <PageTitle lead={words.setPassword.lead}>{words.setPassword.title}</PageTitle>
      <Panel>
        <form onSubmit={submit} noValidate>
          <Stack>
            <PasswordField
              label={words.setPassword.password}
              isNew
              value={password}
              onChange={setPassword}
              error={problem?.of('password')}
            />
            {problem?.of('token') !== undefined && (
              <Callout tone="bad" title={words.setPassword.expired}>
                {words.setPassword.expiredNext}
              </Callout>
            )}
            <ProblemCallout problem={problem} fields={['password', 'token']} />
            <Button type="submit" size="md" loading={busy}>
              {words.setPassword.submit}
            </Button>
          </Stack>
        </form>
      </Panel>
    </div>
  );
}
