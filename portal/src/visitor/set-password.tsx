import { Button, Skeleton, Stack } from '@mantine/core';
import { type FormEvent, useCallback, useEffect, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { call } from '../api/call.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import type { Account, Challenge, ShownPasswordReset } from '../api/types.ts';
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

const path = '/portal/v1/password-resets';

/** The page of a one-time link. It shows the email and all effects of the link before it is used. */
export function SetPassword() {
  const { token } = useParams<{ token: string }>();
  const [, navigate] = useLocation();
  const [shown, setShown] = useState<ShownPasswordReset | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  const [challenge, setChallenge] = useState<string | undefined>(undefined);
  const look = useCallback(async () => {
    try {
      setShown(await call<ShownPasswordReset>('POST', `${path}/look`, { body: { token } }));
    } catch (error) {
      setProblem(toProblem(error));
    }
  }, [token]);
  useEffect(() => void look(), [look]);
  if (challenge !== undefined)
    return (
      <SecondFactorStep
        challenge={challenge}
        next="/applications"
        onCancel={() => navigate('/sign-in', { replace: true })}
      />
    );
  return (
    <div className={styles.narrow}>
      <PageTitle>{words.setPassword.title}</PageTitle>
      <Panel>
        <DeadLink problem={problem} />
        <ProblemCallout problem={problem} fields={['token']} />
        {shown === undefined && problem === undefined && <Skeleton height={240} />}
        {shown !== undefined && <UseLink token={token} link={shown} onChallenge={setChallenge} />}
      </Panel>
    </div>
  );
}

interface UseLinkProps {
  token: string;
  link: ShownPasswordReset;
  onChallenge: (challenge: string) => void;
}

function UseLink({ token, link, onChallenge }: UseLinkProps) {
  const { enter } = useSession();
  const [, navigate] = useLocation();
  const [password, setPassword] = useState('');
  const { run, busy, problem } = useAction(async () => {
    const answer = await call<Account | Challenge>('POST', path, { body: { token, password } });
    if ('challenge' in answer) return onChallenge(answer.challenge);
    enter(answer);
    // The link works once, so remove it from the history. An operator has 15 minutes to set up a second factor.
    const { enabled, required } = answer.second_factor;
    navigate(required && !enabled ? '/account' : '/', { replace: true });
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    run();
  }

  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Callout tone="wait" title={words.setPassword.effect(link.email)}>
          {link.makes_operator && <div>{words.setPassword.makesOperator}</div>}
          {link.removes_second_factor && <div>{words.setPassword.removesSecondFactor}</div>}
          <div>{words.setPassword.once}</div>
        </Callout>
        <PasswordField
          label={words.setPassword.password}
          isNew
          value={password}
          onChange={setPassword}
          error={problem?.of('password')}
        />
        <DeadLink problem={problem} />
        <ProblemCallout problem={problem} fields={['password', 'token']} />
        <Button type="submit" size="md" loading={busy}>
          {words.setPassword.submit}
        </Button>
      </Stack>
    </form>
  );
}

function DeadLink({ problem }: { problem: Problem | undefined }) {
  if (problem?.of('token') === undefined) return null;
  return (
    <Callout tone="bad" title={words.setPassword.expired}>
      {words.setPassword.expiredNext}
    </Callout>
  );
}
