import { Skeleton } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { call } from '../api/call.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import type { Account } from '../api/types.ts';
import { Callout } from '../parts/notice/callout.tsx';
import { ProblemCallout } from '../parts/notice/problem-callout.tsx';
import { useSession } from '../session/session.tsx';
import { words } from '../words/visitor.tsx';
import { SignIn } from './sign-in.tsx';

/** By token, because an effect may run twice and the link works once. */
const used = new Map<string, Promise<Account>>();

function signInBy(token: string): Promise<Account> {
  const before = used.get(token);
  if (before !== undefined) return before;
  const account = call<Account>('POST', '/portal/v1/sessions/link', { body: { token } });
  used.set(token, account);
  return account;
}

/** The page of the link that the first start of a sandbox prints. */
export function SignInByLink() {
  const { token } = useParams<{ token: string }>();
  const { account: current, enter } = useSession();
  const [, navigate] = useLocation();
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  useEffect(() => {
    signInBy(token).then(
      (account) => {
        enter(account);
        // The link works once, so remove it from the history.
        navigate('/applications', { replace: true });
      },
      (error: unknown) => setProblem(toProblem(error)),
    );
  }, [token, enter, navigate]);
  // A reader who opens the link again is signed in already.
  useEffect(() => {
    if (problem !== undefined && current !== null) navigate('/applications', { replace: true });
  }, [problem, current, navigate]);
  if (problem === undefined) return <Skeleton height={240} aria-busy="true" />;
  if (problem.of('token') === undefined) return <ProblemCallout problem={problem} />;
  return (
    <>
      <Callout tone="wait" title={words.signInLink.expired}>
        {words.signInLink.expiredNext}
      </Callout>
      <SignIn />
    </>
  );
}
