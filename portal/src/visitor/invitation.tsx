import { Button, Skeleton, Stack } from '@mantine/core';
import { type FormEvent, useCallback, useEffect, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { call } from '../api/call.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import type { Account, ShownInvitation } from '../api/types.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { Panel } from '../parts/panel.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { useSession } from '../session/session.tsx';
import { useAction } from '../session/use-action.ts';
import { words } from '../words/visitor.tsx';
import styles from './narrow.module.css';

/** An invitation to an account, by one-time link. A new person sets a password; others sign in first. */
export function Invitation() {
  const { token } = useParams<{ token: string }>();
  const [shown, setShown] = useState<ShownInvitation | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const look = useCallback(async () => {
    try {
      setShown(await call<ShownInvitation>('POST', '/portal/v1/invitations/look', { body: { token } }));
    } catch (error) {
      setProblem(toProblem(error));
    }
  }, [token]);
  useEffect(() => void look(), [look]);
  return (
    <div className={styles.narrow}>
      <PageTitle>{words.invitation.title}</PageTitle>
      <Panel>
        {problem?.of('token') !== undefined && (
          <Callout tone="bad" title={words.invitation.expired}>
            {words.invitation.expiredNext}
          </Callout>
        )}
        <ProblemCallout problem={problem} fields={['token']} />
        {shown === undefined && problem === undefined && <Skeleton height={120} />}
        {shown !== undefined && <Accept token={token} invitation={shown} />}
      </Panel>
    </div>
  );
}

function Accept({ token, invitation }: { token: string; invitation: ShownInvitation }) {
  const { account, enter, refresh } = useSession();
  const [, navigate] = useLocation();
  const [password, setPassword] = useState('');
  const isNew = !invitation.sign_in_first;
  const { run, busy, problem } = useAction(async () => {
    if (isNew) {
      enter(await call<Account>('POST', '/portal/v1/invitations/accept', { body: { token, password } }));
    } else {
      await call('POST', '/portal/v1/me/invitations', { body: { token } });
      await refresh();
    }
    // The link works once, so remove it from the history.
    navigate('/applications', { replace: true });
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  const { email, role, account_name: name } = invitation;
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <span>{words.invitation.invited(name, role, email)}</span>
        {isNew && (
          <PasswordField
            label={words.invitation.password}
            isNew
            value={password}
            onChange={setPassword}
            error={problem?.of('password')}
          />
        )}
        {!isNew && account === null && <span>{words.invitation.signInFirst}</span>}
        <ProblemCallout problem={problem} fields={['password']} />
        {(isNew || account !== null) && (
          <Button type="submit" size="md" loading={busy}>
            {words.invitation.join}
          </Button>
        )}
      </Stack>
    </form>
  );
}
